import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { StoreError } from '@batonjs/store';
import type { Topic } from '@batonjs/store/adapter';
import { builtProgram } from './built-program.ts';
import type { Kinds, Reply, Request } from './store-process.ts';

type Store = TaskStore & PushConfigStore;

const program = await builtProgram(new URL('./store-process.ts', import.meta.url));

/** Stores that live in another process. */
export interface RemoteStores {
  readonly pid: number;
  open<Kind extends keyof Kinds>(kind: Kind, ...args: Parameters<Kinds[Kind]>): Store;
  /** Sets its wall clock so many milliseconds ahead. */
  setClock(aheadMs: number): Promise<unknown>;
  /** Kills the process without a warning. */
  kill(): Promise<void>;
}

type Body<R> = R extends unknown ? Omit<R, 'id'> : never;

/** Starts a process that keeps stores. Its wall clock is so many milliseconds ahead. */
export function startStoreProcess(aheadMs = 0): RemoteStores {
  const setClock = `const now = Date.now; globalThis.aheadMs = ${aheadMs}; Date.now = () => now() + aheadMs`;
  const child = fork(program, {
    serialization: 'advanced',
    execArgv: [`--import=data:text/javascript,${encodeURIComponent(setClock)}`],
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const subscribers = new Map<number, (version?: number) => void>();
  let count = 0;

  child.on('message', (reply: Reply) => {
    if ('subscription' in reply) return subscribers.get(reply.subscription)?.(reply.version);
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ('error' in reply) {
      const { message, code } = reply.error;
      call?.reject(code ? new StoreError(code as StoreError['code'], message) : new Error(message));
    } else call?.resolve(reply.result);
  });
  child.on('exit', () => {
    for (const call of waiting.values()) call.reject(new Error('The process of the store has ended'));
  });

  function ask(body: Body<Request>): Promise<unknown> {
    if (!child.connected) return Promise.reject(new Error('The process of the store has ended'));
    const id = ++count;
    const call = Promise.withResolvers<unknown>();
    waiting.set(id, call);
    child.send({ id, ...body });
    return call.promise;
  }

  async function subscribe(store: number, topic: Topic, notify: (version?: number) => void) {
    const subscription = ++count;
    subscribers.set(subscription, notify);
    await ask({ store, subscribe: topic, subscription });
    return async () => {
      subscribers.delete(subscription);
      await ask({ store, unsubscribe: subscription });
    };
  }

  return {
    pid: child.pid!,
    open(kind, ...args) {
      const store = ++count;
      void ask({ store, open: kind, args });
      return new Proxy({} as Store, {
        get: (_, method: string) =>
          method === 'subscribe'
            ? (topic: Topic, notify: () => void) => subscribe(store, topic, notify)
            : (...args: readonly unknown[]) => ask({ store, method, args }),
      });
    },
    setClock: (aheadMs) => ask({ store: 0, aheadMs }),
    async kill() {
      if (!child.connected) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
