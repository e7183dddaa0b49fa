import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { Part } from './part.ts';
import { sourcesByName } from './sources.ts';

const root = resolve(import.meta.dirname, '../..');
const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];

const alias = [...sourcesByName(root)].map(([name, replacement]) => ({
  find: new RegExp(`^${name}$`),
  replacement,
}));

const { tests = [] } = JSON.parse(process.env.BATON_MUTATED_BY ?? '{}') as Partial<Part>;

export default defineConfig({
  root,
  resolve: { conditions, alias },
  ssr: { resolve: { conditions } },
  test: {
    include: tests.filter((path) => !path.startsWith('!')),
    exclude: tests.filter((path) => path.startsWith('!')).map((path) => path.slice(1)),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
