import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskStore } from '@batonjs/store';

/** A store that takes so many milliseconds for every call. */
export function slowStore<Store extends TaskStore>(store: Store, ms: number): Store {
  if (ms === 0) return store;
  return new Proxy(store, {
    get(target, name, receiver) {
      const member = Reflect.get(target, name, receiver);
      if (typeof member !== 'function' || name === 'subscribe' || name === 'close') return member;
      return async (...args: unknown[]) => {
        await sleep(ms / 2);
        const result = await member.apply(target, args);
        await sleep(ms / 2);
        return result;
      };
    },
  });
}
