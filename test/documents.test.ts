import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './source-files.ts';

const documents = ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'apps/*/README.md']
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

describe.each(documents)('$path', ({ path, text }) => {
  it('links only to what exists', () => {
    const links = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!.split('#')[0]!);
    const local = links.filter((target) => target !== '' && !/^[a-z]+:/.test(target));
    expect(local.filter((target) => !existsSync(join(root, dirname(path), target)))).toEqual([]);
  });

  it('names only files and folders that exist', () => {
    const named = Array.from(
      text.matchAll(/`((?:packages|apps|test|scripts|docs|bench)\/[\w./-]+)`/g),
      ([, name]) => name!,
    );
    const places = [root, join(root, dirname(path))];
    expect(named.filter((name) => !places.some((place) => existsSync(join(place, name))))).toEqual([]);
  });

  it('is short enough to be read', () => {
    const limits: Record<string, number> = { 'README.md': 120, 'docs/architecture.md': 220 };
    const limit = /^(packages|apps)\//.test(path) ? 40 : (limits[path] ?? 200);
    // What a script writes is looked up, not read.
    const isWritten = path === 'docs/conformance.md' || path === 'docs/mutation.md';
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(isWritten ? 1_000 : limit);
  });
});
