import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { docs } from '../../docs/.vitepress/pages.ts';
import { readText } from '../repository/source-files.ts';

const folder = 'packages/create-baton/templates/shared';
const skills = ['write-a-baton-agent', 'operate-a-baton-agent'];

describe.each(skills)('the skill %s', (name) => {
  const text = readText(`${folder}/agents/skills/${name}/SKILL.md`);

  it('has the head that assistants read', () => {
    const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
    expect(head).toContain(`name: ${name}\n`);
    // The format allows 1,024 characters.
    expect(/^description: (.{40,1024})$/m.exec(head)?.[1]).toMatch(/Use it /);
  });

  it('names pages of the documentation that exist', () => {
    const pages = Array.from(text.matchAll(/`([\w/-]+\.md)`/g), ([, page]) => page!);
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.filter((page) => !existsSync(join(docs, page)))).toEqual([]);
  });

  it('is named where projects and pages say what they have', () => {
    expect(readText(`${folder}/AGENTS.md`)).toContain('.agents/skills');
    expect(readText('docs/agents/assistants.md')).toContain(`\`${name}\``);
  });
});
