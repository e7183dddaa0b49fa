import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type PushConfigStore, StoreError, type TaskStore } from '@batonjs/store';
import type { Topic } from '@batonjs/store/adapter';

type Store = TaskStore & PushConfigStore;

export type Request =
  | { readonly id: number; readonly open: string }
  | {
      readonly id: number;
      readonly store: number;
      readonly method: string;
      readonly args: readonly unknown[];
    }
  | { readonly id: number; readonly store: number; readonly subscribe: Topic }
  | { readonly id: number; readonly unsubscribe: number };

export type Reply =
  | { readonly id: number; readonly value?: unknown }
  | { readonly id: number; readonly code: string; readonly message: string }
  | { readonly notified: number; readonly version?: number };

/** Starts a script on the sources. */
export const start = (script: URL, args: readonly string[] = [], options: ForkOptions = {}): ChildProcess =>
  fork(fileURLToPath(script), args, {
    execArgv: ['--conditions=@batonjs/source', '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    ...options,
  });

/** A process that opens stores for us and passes our calls on to them. */
export function otherProcess() {
  const child = start(new URL('./store-process.ts', import.meta.url));
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const watchers = new Map<number, (version?: number) => void>();
  let requests = 0;

  child.on('message', (reply: Reply) => {
    if ('notified' in reply) return watchers.get(reply.notified)?.(reply.version);
    const { resolve, reject } = waiting.get(reply.id)!;
    waiting.delete(reply.id);
    if ('code' in reply) reject(new StoreError(reply.code as StoreError['code'], reply.message));
    else resolve(reply.value);
  });
  // Only a call that waits for its answer keeps the test's process alive.
  child.unref();
  child.channel?.unref();

  const ask = async (request: Record<string, unknown>): Promise<unknown> => {
    const id = ++requests;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    child.send({ ...request, id });
    return answer.promise;
  };

  return {
    child,
    /** A store on this file, opened by the other process. */
    async open(path: string): Promise<Store> {
      const store = await ask({ open: path });
      const subscribe = async (topic: Topic, notify: (version?: number) => void) => {
        const number = requests + 1;
        watchers.set(number, notify);
        await ask({ store, subscribe: topic });
        return async () => {
          if (watchers.delete(number)) await ask({ unsubscribe: number });
        };
      };
      const call =
        (method: string) =>
        (...args: unknown[]) =>
          ask({ store, method, args });
      return new Proxy({} as Store, {
        get: (_, method) =>
          method === 'subscribe' ? subscribe : method === 'then' ? undefined : call(String(method)),
      });
    },
  };
}
