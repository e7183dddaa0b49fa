import { defineConfig } from 'vitest/config';

const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['*.test.ts'],
    setupFiles: ['../../support/patience.ts'],
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 60_000,
    // The build of Next.js takes minutes on a machine that is busy.
    hookTimeout: 600_000,
  },
});
