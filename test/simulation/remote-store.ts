import type { Answer, TaskStore } from '@batonjs/store';
import type { Topic } from '@batonjs/store/adapter';
import type { VirtualProcess } from './virtual-process.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface RemoteStoreOptions {
  readonly time: VirtualTime;
  readonly process: VirtualProcess;
  /** How long a message travels, in milliseconds. */
  readonly latency: () => number;
}

/**
 * A store as a process reaches it over a network: what was asked for happens although the process was paused or died
 * since, and then no server is notified.
 */
export function remoteStore<Store extends TaskStore>(
  store: Store,
  { time, process, latency }: RemoteStoreOptions,
): Store {
  const remotely = <T>(act: () => Answer<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (process.isDead) return;
      time.schedule(latency(), () => {
        Promise.resolve(act()).then(
          (result) => void process.deliver(latency(), () => resolve(result)),
          (error) => void process.deliver(latency(), () => reject(error)),
        );
      });
    });

  async function subscribe(topic: Topic, notify: (version?: number) => void) {
    let watching = true;
    const unsubscribe = await remotely(() =>
      store.subscribe(topic, (version) => void process.deliver(latency(), () => watching && notify(version))),
    );
    return () => {
      watching = false;
      return unsubscribe();
    };
  }

  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || typeof name === 'symbol') return member;
      if (name === 'subscribe') return subscribe;
      return (...args: unknown[]) => remotely<unknown>(() => member.apply(target, args));
    },
  });
}
