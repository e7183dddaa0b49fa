import { StoreError, type TaskStore } from '@batonjs/store';

/** One call of a store's method. `count` numbers the calls of all methods from 0. */
export interface Call {
  readonly method: string;
  readonly count: number;
  readonly args: readonly unknown[];
}

/** A fault of one call. */
export interface Fault {
  /** How much longer the call takes, in milliseconds. */
  readonly delayMs?: number;
  /** The call rejects with `UNAVAILABLE`, either before or after the store did it. */
  readonly fail?: 'before' | 'after';
}

/** The probability of each kind of fault, from 0 (never, the default) to 1 (always). */
export interface FaultRates {
  readonly delay?: number;
  readonly failBefore?: number;
  readonly failAfter?: number;
  readonly loseNotification?: number;
  readonly repeatNotification?: number;
}

export interface FaultyStoreOptions {
  /** From 0 up to, not including, 1. The same numbers give the same faults. */
  readonly random: () => number;
  readonly rates?: FaultRates;
  /** Decides about each call instead of `rates`. */
  readonly plan?: (call: Call) => Fault | undefined;
  /** Waits; a simulation lets its scheduler do it. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** The longest delay by `rates`, in milliseconds. Default 20. */
  readonly maxDelayMs?: number;
  /** No faults happen while it returns false: for the end of a run, when all tasks must come to rest. */
  readonly active?: () => boolean;
  /** Called for every fault. */
  readonly onFault?: (call: Call, fault: Fault) => void;
}

/** Methods without faults: closing must work, and `then` is asked for by `await`. */
const spared = new Set<PropertyKey>(['close', 'then']);

/**
 * A store that is slow, cannot be reached, rejects calls that it has done, and loses and repeats notifications. All
 * data comes from the store beneath it unchanged.
 */
export function faultyStore<S extends TaskStore>(store: S, options: FaultyStoreOptions): S {
  const { random, rates = {}, active = () => true, onFault, maxDelayMs = 20 } = options;
  const sleep = options.sleep ?? ((ms) => new Promise<void>((resolve) => setTimeout(resolve, ms)));
  let calls = 0;

  function faultOf(call: Call): Fault {
    if (options.plan) return options.plan(call) ?? {};
    // Always as many numbers per call, so that one fault more does not change all that follow.
    const [delay, amount, failure] = [random(), random(), random()];
    const { failBefore = 0, failAfter = 0 } = rates;
    return {
      delayMs: delay < (rates.delay ?? 0) ? Math.ceil(amount * maxDelayMs) : undefined,
      fail: failure < failBefore ? 'before' : failure < failBefore + failAfter ? 'after' : undefined,
    };
  }

  async function withFault(call: Call, act: () => unknown): Promise<unknown> {
    const fault = active() ? faultOf(call) : {};
    if (fault.delayMs || fault.fail) onFault?.(call, fault);
    if (fault.delayMs) await sleep(fault.delayMs / 2);
    if (fault.fail === 'before') throw new StoreError('UNAVAILABLE', `${call.method} was not done`);
    const result = await act();
    if (fault.delayMs) await sleep(fault.delayMs / 2);
    if (fault.fail !== 'after') return result;
    if (call.method === 'subscribe') await (result as () => unknown)();
    throw new StoreError('UNAVAILABLE', `${call.method} was done, but the answer was lost`);
  }

  function faultyNotify(notify: (version?: number) => void): (version?: number) => void {
    return (version) => {
      const [lost, repeated] = active() ? [random(), random()] : [1, 1];
      if (lost >= (rates.loseNotification ?? 0)) notify(version);
      if (repeated < (rates.repeatNotification ?? 0)) void sleep(maxDelayMs).then(() => notify(version));
    };
  }

  return new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      if (typeof key === 'symbol' || spared.has(key)) return member.bind(target);
      return (...args: unknown[]) => {
        const passed = key === 'subscribe' ? [args[0], faultyNotify(args[1] as () => void)] : args;
        return withFault({ method: key, count: calls++, args }, () => Reflect.apply(member, target, passed));
      };
    },
  });
}
