import type { Unwatch } from '@batonjs/store';
import { sqliteStore } from '../src/index.ts';
import type { Reply, Request } from './other-process.ts';

// Opens stores for a test in another process and passes its calls on to them.

const stores: ReturnType<typeof sqliteStore>[] = [];
const watches = new Map<number, Unwatch>();
const send = (reply: Reply) => process.send?.(reply);

async function answer(request: Request): Promise<unknown> {
  if ('open' in request) return stores.push(sqliteStore(request.open, { durability: 'normal' })) - 1;
  if ('unwatch' in request) return watches.get(request.unwatch)?.();
  const store = stores[request.store]!;
  if ('watch' in request) {
    const wake = (version?: number) => send({ rung: request.id, version });
    watches.set(request.id, await store.watch(request.watch, wake));
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
