import type { TaskStore } from '@batonjs/store';
import type { Clock } from '../timing/clock.ts';
import { bounded } from '../timing/within-deadline.ts';

/** What may take as long as it takes: nobody waits for it. */
const patient = new Set<PropertyKey>(['close', 'prune']);

/** The store, each of whose calls is answered within so many milliseconds, if need be with `UNAVAILABLE`. */
export function boundedStore<Store extends TaskStore>(store: Store, ms: number, clock: Clock): Store {
  const methods = new Map<PropertyKey, unknown>();
  const subscribe: TaskStore['subscribe'] = (topic, notify) =>
    bounded(store.subscribe(topic, notify), ms, clock, (unsubscribe) => void unsubscribe());
  methods.set('subscribe', subscribe);
  return new Proxy(store, {
    get(target, name) {
      const method = methods.get(name);
      if (method !== undefined) return method;
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || patient.has(name)) return member;
      // No method takes more; gathering them in an array would cost each call one.
      const inTime = (a: unknown, b: unknown, c: unknown, d: unknown, e: unknown) => {
        const call = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        try {
          return bounded(call.call(target, a, b, c, d, e), ms, clock);
        } catch (error) {
          return Promise.reject(error);
        }
      };
      methods.set(name, inTime);
      return inTime;
    },
  });
}
