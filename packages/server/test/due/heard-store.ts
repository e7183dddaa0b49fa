import { memoryStore } from '@batonjs/store-memory';
import type { TestClock } from '@batonjs/testing';

/** A clock that counts the timers that keep a process, and a store on it of which all calls are heard, and all subscriptions counted. */
export function heardStore(clock: TestClock) {
  const heard = { called: [] as string[], subscribed: 0, asleep: 0 };
  const kept = memoryStore({ now: clock.now, monotonic: clock.monotonic });
  const store = new Proxy(kept, {
    get(target, name: keyof typeof kept) {
      const member = target[name];
      if (typeof member !== 'function') return member;
      return async (...args: never[]) => {
        heard.called.push(name);
        const answer = await (member as (...args: never[]) => unknown).apply(target, args);
        if (name !== 'subscribe') return answer;
        heard.subscribed++;
        return () => {
          heard.subscribed--;
          return (answer as () => unknown)();
        };
      };
    },
    ownKeys: (target) => Reflect.ownKeys(target),
  });
  const sleep: TestClock['sleep'] = async (ms, signal, kind) => {
    // Those that are idle keep no process.
    const counts = kind === 'idle' ? 0 : 1;
    heard.asleep += counts;
    await clock.sleep(ms, signal, kind);
    heard.asleep -= counts;
  };
  return { heard, store, clock: { ...clock, sleep } };
}
