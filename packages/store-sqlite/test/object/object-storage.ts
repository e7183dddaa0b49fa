import assert from 'node:assert/strict';
import { StoreError } from '@batonjs/store';
import type { ObjectStorage } from '../../src/durable-object.ts';

/** What `ctx.storage` has besides. */
export interface WholeStorage extends ObjectStorage {
  deleteAlarm(): Promise<void>;
  deleteAll(): Promise<void>;
}

/** The storage as the next object gets it, after this one was evicted. */
export const nextStart = (storage: ObjectStorage): ObjectStorage => ({
  sql: storage.sql,
  transactionSync: (work) => storage.transactionSync(work),
  getAlarm: () => storage.getAlarm(),
  setAlarm: (at) => storage.setAlarm(at),
  sync: () => storage.sync(),
});

export const refuses = (code: string, message: RegExp, trouble?: string) => (error: unknown) => {
  assert.ok(StoreError.is(error), `${error}`);
  assert.deepEqual([error.code, error.trouble], [code, trouble]);
  assert.match(error.message, message);
  return true;
};

export const count = (storage: ObjectStorage, table: string) =>
  storage.sql.exec(`SELECT count(*) AS rows FROM ${table}`).toArray()[0]?.rows;

/** Is given the storage of an object of its own. */
export type Case = (storage: WholeStorage) => Promise<void>;

export const wanted = { queue: 'q', want: true };
export const held = { queue: 'q', acquire: { holder: 'h', ttlMs: 600_000 } };
export const all = { queue: 'q', holder: 'next', ttlMs: 600_000, limit: 10 };
export const webhook = {
  scope: 's',
  taskId: 't',
  id: 'w',
  config: { taskId: 't', id: 'w', url: 'https://example.com/' },
  protocolVersion: '1.0',
  queue: 'q',
  cursor: 0,
};
