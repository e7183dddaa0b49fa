import { expect, it } from 'vitest';
import { importedBy } from '../../../test/support/loaded-modules.ts';

/** The modules that only a process that answers requests needs. */
const ofRequests = /\/packages\/(server\/src\/(front|operations)\/|bindings\/)/;

const worker = `
  const { createWorker } = await import('@batonjs/server/worker');
  const { memoryStore } = await import('@batonjs/store-memory');
  await createWorker({ agent: async () => 'hi', store: memoryStore() }).close()`;

it('a worker loads neither the front, nor operations and bindings', async () => {
  const loaded = await importedBy(worker, import.meta.dirname);
  expect(loaded.filter((url) => url.includes('/packages/server/src/turns/'))).not.toEqual([]);
  expect(loaded.filter((url) => ofRequests.test(url))).toEqual([]);
});

it('a server does load them, so that the test of the worker can fail', async () => {
  const loaded = await importedBy("await import('@batonjs/server')", import.meta.dirname);
  const folders = loaded.flatMap((url) => ofRequests.exec(url)?.[0] ?? []);
  expect([...new Set(folders)].sort()).toEqual([
    '/packages/bindings/',
    '/packages/server/src/front/',
    '/packages/server/src/operations/',
  ]);
});
