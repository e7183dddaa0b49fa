import { defineConfig } from 'vitest/config';

// Tests run on the sources, so that no build stands between an edit and its test.
const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts'],
    // Much of what is tested waits for other processes: one file at a time would leave a core idle.
    maxWorkers: 2,
    globalSetup: ['test/support/say-what-is-missing.ts', 'test/support/compile-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
