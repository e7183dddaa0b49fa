import type { Unsubscribe } from '@batonjs/store';
import { sqliteStore } from '../src/index.ts';
import type { Reply, Request } from './other-process.ts';

// Opens stores for a test in another process and passes its calls on to them.

const stores: ReturnType<typeof sqliteStore>[] = [];
const watches = new Map<number, Unsubscribe>();
const send = (reply: Reply) => process.send?.(reply);

async function answer(request: Request): Promise<unknown> {
  if ('open' in request) return stores.push(sqliteStore(request.open, { durability: 'normal' })) - 1;
  if ('unsubscribe' in request) return watches.get(request.unsubscribe)?.();
  const store = stores[request.store]!;
  if ('subscribe' in request) {
    const notify = (version?: number) => send({ notified: request.id, version });
    watches.set(request.id, await store.subscribe(request.subscribe, notify));
    return undefined;
  }
  const method = store[request.method as keyof typeof store] as (...args: unknown[]) => unknown;
  return method(...request.args);
}

process.on('message', (request: Request) => {
  answer(request).then(
    (value) => send({ id: request.id, value }),
    (error) => send({ id: request.id, code: error.code, message: String(error.message) }),
  );
});
process.on('disconnect', () => process.exit());
