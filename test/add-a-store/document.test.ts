import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8').trimEnd();

it('docs/add-a-store.md shows the adapter and the test that are run here', () => {
  const blocks = Array.from(
    read('../../docs/add-a-store.md').matchAll(/```ts\n([\s\S]*?)\n```/g),
    ([, code]) => code,
  );
  expect(blocks).toEqual([read('./map-store.ts'), read('./map-store.test.ts')]);
});
