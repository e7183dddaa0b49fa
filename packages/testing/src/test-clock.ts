import { type Clock, type HearingClock, hear, nextRound } from '@batonjs/server/turns';
/** A clock that stands still until a test moves it. For `clock` of servers, workers and `runTurn`. */
export interface TestClock extends Pick<Clock, 'now' | 'monotonic' | 'sleep'> {
  /**
   * Lets so many milliseconds pass. Time stops at each moment at which something is due, until that has run as far as it
   * goes without more time. It has once no call of a store or webhook is under way, and nothing asked the clock in three
   * rounds of the event loop. A call that takes more than three real seconds is not waited for any longer. Rejects with
   * `RangeError` for less than 0.
   */
  advance(ms: number): Promise<void>;
}

/** Something that waits for time. */
interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** For how many rounds of the event loop nothing must happen. A store that groups its writes takes one for each group. */
const quietRounds = 3;
/** How long a call may take in real time before it is taken for one that hangs. */
const patienceMs = 3_000;

/** A clock that starts at this time: a `Date`, or milliseconds since 1970. Default: the time now. */
export function testClock(start: Date | number = Date.now()): TestClock {
  const began = Math.ceil(Number(start));
  if (!Number.isFinite(began)) throw new RangeError('`start` must be a time');
  const sleepers = new Set<Sleeper>();
  const calls = new Set<Promise<void>>();
  let now = began;
  let asked = 0;
  let passed = Promise.resolve();
  const ask = (): number => {
    asked++;
    return now;
  };

  /** Resolves when nothing happens any more at this moment. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < quietRounds; quiet++) {
      const before = asked;
      const isWaiting = calls.size > 0;
      if (isWaiting) await Promise.race(calls);
      await nextRound();
      if (isWaiting || asked !== before) quiet = -1;
    }
  }

  async function pass(ms: number): Promise<void> {
    await settle();
    const end = Math.ceil(now + ms);
    for (let next = earliest(sleepers); next <= end; next = earliest(sleepers)) {
      now = next;
      for (const { until, wake } of [...sleepers]) if (until <= now) wake();
      await settle();
    }
    now = end;
  }

  const clock: TestClock & Pick<HearingClock, typeof hear> = {
    now: ask,
    monotonic: () => ask() - began,
    sleep(ms, signal) {
      const until = Math.ceil(ask() + ms);
      // Needs no more time, as with a timer: a server that closes waits for 0 ms.
      return ms > 0 ? asleep(sleepers, until, signal) : nextRound();
    },
    [hear]: (call) => hold(calls, call),
    advance(ms) {
      if (!(ms >= 0)) return Promise.reject(new RangeError('Time passes by 0 milliseconds or more'));
      passed = passed.then(() => pass(ms));
      return passed;
    },
  };
  return clock;
}

const earliest = (sleepers: Iterable<Sleeper>): number => {
  let first = Number.POSITIVE_INFINITY;
  for (const { until } of sleepers) first = Math.min(first, until);
  return first;
};

const asleep = (sleepers: Set<Sleeper>, until: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const sleeper: Sleeper = {
      until,
      wake() {
        sleepers.delete(sleeper);
        signal?.removeEventListener('abort', sleeper.wake);
        resolve();
      },
    };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', sleeper.wake);
    if (signal?.aborted) sleeper.wake();
  });

/** Holds the clock until the call is answered, or for as long as patience lasts. */
function hold(calls: Set<Promise<void>>, call: Promise<unknown>): void {
  const held = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, patienceMs);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    call.then(done, done);
  }).then(() => void calls.delete(held));
  calls.add(held);
}
