import { expect, it } from 'vitest';
import { withTabs } from '../../docs/.vitepress/tabs.ts';

const block = (title: string) => `\`\`\`ts${title}\nconst a = 1;\n\`\`\`\n`;

it('blocks of code with titles that follow each other are tabs, and no others', () => {
  const [one, other] = [block(' [Express]'), block(' [Hono]')];
  expect(withTabs(`a\n\n${one}\n${other}\nb\n`)).toBe(`a\n\n::: code-group\n\n${one}\n${other}\n:::\n\nb\n`);
  for (const page of [`a\n\n${one}\nb\n\n${other}`, `${block('')}\n${block('')}`, one])
    expect(withTabs(page)).toBe(page);
});
