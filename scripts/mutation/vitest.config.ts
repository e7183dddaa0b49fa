import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { Part } from './parts.ts';

const root = resolve(import.meta.dirname, '../..');
const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/**
 * Stryker mutates a copy of the repository whose `node_modules` lead back to the original. Imports by name have to meet
 * the copy, or no test would see a mutation.
 */
const alias = readdirSync(join(root, 'packages')).flatMap((folder) => {
  const path = join(root, 'packages', folder);
  const { name, exports = {} } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
  return Object.entries(exports).flatMap(([entry, target]) => {
    const source = typeof target === 'string' ? undefined : target['@batonjs/source'];
    if (source === undefined) return [];
    return [{ find: new RegExp(`^${name}${entry.slice(1)}$`), replacement: join(path, source) }];
  });
});

const { tests = [], names = '' } = JSON.parse(process.env.BATON_MUTATED_BY ?? '{}') as Partial<Part>;

export default defineConfig({
  root,
  resolve: { conditions, alias },
  ssr: { resolve: { conditions } },
  test: {
    include: tests.filter((path) => !path.startsWith('!')),
    exclude: tests.filter((path) => path.startsWith('!')).map((path) => path.slice(1)),
    testNamePattern: new RegExp(names),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
