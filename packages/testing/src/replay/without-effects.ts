import type { AttemptReplay } from './attempt-replay.ts';

/** Runs code whose clock is that of a recorded attempt, and which cannot reach the network with `fetch`. */
export async function withoutEffects(replay: AttemptReplay, run: () => Promise<void>): Promise<void> {
  const { Date: realDate, fetch: realFetch } = globalThis;
  const refuse = (request: unknown): Promise<never> => {
    const { url } = Object(request) as { readonly url?: unknown };
    const target = String(url ?? request).split(/[?#]/, 1)[0];
    // How a call of another agent went on is not in the log.
    if (!replay.isStopped)
      replay.differ('effect', `The agent calls ${target} outside of a step`, replay.first);
    return new Promise(() => {});
  };
  globalThis.Date = recordedDate(realDate, () => replay.now);
  globalThis.fetch = refuse;
  try {
    await run();
  } finally {
    globalThis.Date = realDate;
    globalThis.fetch = realFetch;
  }
}

/** `Date`, where now is another time. */
const recordedDate = (real: DateConstructor, now: () => number): DateConstructor =>
  new Proxy(real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
