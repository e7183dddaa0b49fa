import { defineConfig } from 'vitest/config';

// Tests run on the sources, so that no build stands between an edit and its test.
const conditions = ['@batonjs/source', 'module', 'node', 'development|production'];

// Their tests leave nothing behind in a process, so that the files share one: half of their CPU time was loading the sources
// anew for each file. Not so where a module starts a server that the end of the file stops, as for webhooks.
const inOneProcess = [
  'packages/{auth,bindings,lifecycle,protocol,task-gateway}/test/**/*.test.ts',
  'packages/server/test/{http,limits,log,operations}/**/*.test.ts',
];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      { extends: true, test: { name: 'in one process', include: inOneProcess, isolate: false } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'apps/*/test/**/*.test.ts'],
          exclude: [...inOneProcess, '**/node_modules/**'],
        },
      },
    ],
    // Much of what is tested waits for other processes: as many files as cores would leave a core idle.
    maxWorkers: 3,
    globalSetup: ['test/support/say-what-is-missing.ts', 'test/support/compile-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
