import { defineConfig } from 'vitest/config';

const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: ['*.test.ts'], testTimeout: 60_000 },
});
