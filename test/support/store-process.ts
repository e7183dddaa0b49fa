import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { type PostgresStoreOptions, postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import pg from 'pg';

/** The stores that another process can open in this one. */
const kinds = {
  redis: redisStore,
  etcd: etcdStore,
  postgres: (url: string, options: PostgresStoreOptions) => postgresStore(url, options),
  /** It gets a pool of its caller, without a listener of `error`, instead of the URL. */
  postgresPool: (url: string, options: PostgresStoreOptions) =>
    postgresStore(new pg.Pool({ connectionString: url, max: 3 }), options),
};
export type Kinds = typeof kinds;

/** What another process asks of the stores in this one. */
export type Request = { readonly id: number; readonly store: number } & (
  | { readonly open: keyof Kinds; readonly args: readonly unknown[] }
  | { readonly aheadMs: number }
  | { readonly method: string; readonly args: readonly unknown[] }
  | { readonly subscribe: unknown; readonly subscription: number }
  | { readonly unsubscribe: number }
);

export type Reply =
  | { readonly id: number; readonly result?: unknown }
  | { readonly id: number; readonly error: { readonly message: string; readonly code?: unknown } }
  | { readonly subscription: number; readonly version?: number };

const stores = new Map<number, TaskStore & PushConfigStore>();
const subscribers = new Map<number, () => unknown>();
const tell = (reply: Reply) => process.send?.(reply);

async function answer(request: Request): Promise<unknown> {
  if ('aheadMs' in request) return void Object.assign(globalThis, { aheadMs: request.aheadMs });
  if ('open' in request) {
    const open = kinds[request.open] as (...args: readonly unknown[]) => TaskStore & PushConfigStore;
    return void stores.set(request.store, open(...request.args));
  }
  if ('unsubscribe' in request) return void (await subscribers.get(request.unsubscribe)?.());
  const store = stores.get(request.store)!;
  if ('subscribe' in request) {
    const { subscription, subscribe } = request;
    const notify = (version?: number) => tell({ subscription, version });
    subscribers.set(
      subscription,
      await store.subscribe(subscribe as Parameters<typeof store.subscribe>[0], notify),
    );
    return undefined;
  }
  const method = Reflect.get(store, request.method) as (...args: readonly unknown[]) => Promise<unknown>;
  return method(...request.args);
}

process.on('message', (request: Request) => {
  const { id } = request;
  answer(request).then(
    (result) => tell({ id, result }),
    ({ message, code }) => tell({ id, error: { message, code } }),
  );
});
process.on('disconnect', () => process.exit());
