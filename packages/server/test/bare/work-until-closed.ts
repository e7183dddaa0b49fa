import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { memoryStore } from '@batonjs/store-memory';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { change } from '../../../../test/kit/faulty-store.ts';
import { completed } from '../../src/index.ts';
import { createWorker } from '../../src/worker.ts';

/** A process that has a worker and nothing else. It closes the worker on SIGTERM and exits by itself after that. */
const [kind = '', place = ''] = process.argv.slice(2);
const open: Record<string, () => TaskStore & PushConfigStore> = {
  memory: () => memoryStore(),
  sqlite: () => sqliteStore(place),
  redis: () => redisStore(place),
  postgres: () => postgresStore(place),
  etcd: () => etcdStore(place.split(',')),
};
const store = open[kind]!();
let claims = 0;
const worker = createWorker({
  store: change(store, {
    claim:
      (claim) =>
      (...args) => {
        claims++;
        if (claims === 5) console.log('still works');
        return claim(...args);
      },
  }),
  agent: async function* () {
    yield completed();
  },
  // Claims ten times a second.
  timeouts: { leaseMs: 300 },
});
process.once('SIGTERM', async () => {
  await worker.close();
  await store.close();
  console.log('closed');
});
