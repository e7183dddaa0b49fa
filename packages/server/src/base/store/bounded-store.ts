import {
  type Answer,
  isPending,
  type PushConfigStore,
  type TaskStore,
  type Unsubscribe,
} from '@batonjs/store';
import type { Clock } from '../timing/clock.ts';
import { bounded, type CallWatch } from '../timing/within-deadline.ts';

type Store = TaskStore | (TaskStore & PushConfigStore);

/** Methods that may take as long as they need. */
const unlimited: ReadonlySet<string> = new Set(['prune', 'close']);

/**
 * The store with a time limit of `ms` milliseconds for each call; a call that takes longer rejects with `UNAVAILABLE`,
 * and may still be done. `prune` and `close` have no limit. The result has the members that the store has. `watch` hears
 * how each call ends.
 */
export function boundedStore(store: Store, ms: number, clock: Clock, watch?: CallWatch): Store {
  const inTime = (call: () => Answer<unknown>, late?: (value: unknown) => void): Answer<unknown> => {
    try {
      const answer = call();
      if (isPending(answer)) return bounded(answer, ms, clock, late, watch);
      watch?.answered();
      return answer;
    } catch (error) {
      watch?.failed(error);
      return Promise.reject(error);
    }
  };
  const members = namesOf(store).map((name) => {
    const member: unknown = Reflect.get(store, name);
    if (typeof member !== 'function') return [name, member];
    const late = name === 'subscribe' ? end : undefined;
    // As it is by then: a program may wrap a method of its store later.
    return unlimited.has(name)
      ? [name, (...args: unknown[]) => Reflect.apply(Reflect.get(store, name), store, args)]
      : [
          name,
          (...args: unknown[]) => inTime(() => Reflect.apply(Reflect.get(store, name), store, args), late),
        ];
  });
  return Object.fromEntries(members) as Store;
}

/** The names of all members, also of those that a class has. */
function namesOf(store: object): string[] {
  const names = new Set<string>();
  for (let each: object | null = store; each && each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) names.add(name);
  return [...names].filter((name) => name !== 'constructor');
}

/** Ends a subscription that was made too late: its caller has given up. */
async function end(unsubscribe: unknown): Promise<void> {
  try {
    await (unsubscribe as Unsubscribe)();
  } catch {
    // The store cannot be reached now, and drops the subscription with the connection.
  }
}
