import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';

const recipes = globSync(['*.ts', 'large/*.ts'], { cwd: import.meta.dirname }).filter(
  (name) => !/\.(test|config)\.ts$/.test(name),
);

it.each(recipes)('docs/agents/language-models.md shows %s as it is, in at most 40 lines', (name) => {
  const text = readFileSync(join(import.meta.dirname, name), 'utf8');
  expect(codeBlocks('docs/agents/language-models.md')).toContain(text);
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

it('docs/agents/language-models.md shows a recipe for each of four frameworks', () => {
  expect(recipes).toHaveLength(4);
});
