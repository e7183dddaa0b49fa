import { askHook } from '@batonjs/protocol/hooks';
import type { Logger } from './logger.ts';
import type { Telemetry } from './telemetry.ts';

/** The telemetry, guarded: it never throws, whatever the given one does. What it does not make is undefined. */
export const guardTelemetry = (telemetry: Telemetry, logger: Logger): Telemetry =>
  guarded(telemetry, (message, error) => logger('error', message, { error }));

/**
 * `run` and `detached` call a function: it is called once, and its outcome is its own, whatever they do. Spans are guarded
 * as well.
 */
const guarded = <T extends object>(object: T, failed: (message: string, error: unknown) => void): T =>
  new Proxy({} as T, {
    get(_, key) {
      const ask = <Value>(call: () => Value) => {
        const answer = askHook(`telemetry.${String(key)}`, call, failed);
        return answer instanceof Promise ? undefined : answer;
      };
      const value: unknown = ask(() => Reflect.get(object, key));
      if (typeof value !== 'function') return value;
      if (key === 'run' || key === 'detached')
        return (fn: () => unknown) => ownOutcome(fn, (once) => ask(() => value.call(object, once)));
      return (...args: unknown[]) => {
        const made = ask(() => value.apply(object, args));
        return made?.run ? guarded(made, failed) : made;
      };
    },
  });

function ownOutcome<T>(fn: () => T, call: (once: () => void) => void): T {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  const once = () => {
    if (outcome) return;
    try {
      outcome = { value: fn() };
    } catch (error) {
      outcome = { error };
    }
  };
  call(once);
  once();
  if ('error' in outcome!) throw outcome.error;
  return outcome!.value;
}
