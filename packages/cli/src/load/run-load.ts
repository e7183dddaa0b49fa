import { setTimeout as sleep } from 'node:timers/promises';
import { A2AError } from '@batonjs/protocol/errors';
import type { Kind, Mix, Operation } from './operations.ts';

/** What was measured of one kind of call. Times in milliseconds. */
export interface Measured {
  readonly latencies: number[];
  /** Of streams: until the first event. */
  readonly firsts: number[];
  /** How often each error came. */
  readonly errors: Map<string, number>;
}

export interface LoadOptions {
  readonly operations: Readonly<Record<Kind, Operation>>;
  readonly mix: Mix;
  readonly callers: number;
  /** Calls a second. Undefined: each caller calls again at once. */
  readonly rate: number | undefined;
  readonly durationMs: number;
  /** Ends the calls that are under way, and begins no more. */
  readonly signal: AbortSignal;
  readonly clock?: { now(): number; sleep(ms: number, signal: AbortSignal): Promise<unknown> };
}

/** What a run came to. */
export interface Load {
  /** From the first call to the end of the last one. */
  readonly ms: number;
  readonly kinds: ReadonlyMap<Kind, Measured>;
}

const systemClock = {
  now: () => performance.now(),
  sleep: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }),
};

/**
 * Calls an agent until the time is over, then waits for the calls that are under way. With a rate, a call that begins late
 * because all callers are busy counts from when it should have begun: otherwise a slow agent would hide how long its
 * clients wait.
 */
export async function runLoad({ clock = systemClock, ...options }: LoadOptions): Promise<Load> {
  const { operations, mix, callers, rate, durationMs, signal } = options;
  const kinds = new Map<Kind, Measured>();
  const order = orderOf(mix);
  const began = clock.now();
  let calls = 0;

  async function callNext(): Promise<boolean> {
    const number = calls++;
    const afterMs = rate === undefined ? clock.now() - began : (number * 1_000) / rate;
    if (signal.aborted || afterMs >= durationMs) return false;
    const due = began + afterMs;
    if (due > clock.now()) await clock.sleep(due - clock.now(), signal).catch(() => {});
    const kind = order[number % order.length];
    if (!kind || signal.aborted) return false;
    await measure(kind, due);
    return true;
  }

  async function measure(kind: Kind, due: number): Promise<void> {
    const measured = kinds.get(kind) ?? { latencies: [], firsts: [], errors: new Map<string, number>() };
    kinds.set(kind, measured);
    try {
      await operations[kind](signal, () => measured.firsts.push(clock.now() - due));
      measured.latencies.push(clock.now() - due);
    } catch (error) {
      if (signal.aborted) return;
      const name = nameOf(error);
      measured.errors.set(name, (measured.errors.get(name) ?? 0) + 1);
      // An agent that refuses everything at once would otherwise be called without a pause.
      if (rate === undefined) await clock.sleep(pauseMs, signal).catch(() => {});
    }
  }

  async function caller(): Promise<void> {
    while (await callNext());
  }

  await Promise.all(Array.from({ length: callers }, caller));
  return { ms: clock.now() - began, kinds };
}

/** How long a caller waits after an error, in milliseconds. */
const pauseMs = 50;

/** Each kind as often as its share says, spread evenly: not all of one kind and then all of the next. */
export function orderOf(mix: Mix): Kind[] {
  return (Object.entries(mix) as [Kind, number][])
    .flatMap(([kind, share]) => Array.from({ length: share }, (_, n) => ({ kind, at: (n + 0.5) / share })))
    .sort((a, b) => a.at - b.at)
    .map(({ kind }) => kind);
}

/** The reason of an error that the agent answered, or the code of the system; no text, which may hold addresses. */
function nameOf(error: unknown): string {
  if (A2AError.is(error)) return error.reason;
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'ERROR';
}
