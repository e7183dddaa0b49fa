import { askHook } from '@batonjs/protocol/hooks';
import type { Logger } from './logger.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * The telemetry, guarded: it never throws, whatever the given one does or lacks. What it does not make is undefined, and a
 * function that its type asks for and that is not there fails as one that throws.
 */
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
      if (typeof value !== 'function' && !needed.test(String(key))) return value;
      if (key === 'run' || key === 'detached')
        return (fn: () => unknown) => ownOutcome(fn, (once) => ask(() => call(value, object, once)));
      return (...args: unknown[]) => {
        const made = ask(() => call(value, object, ...args));
        return made && spans.test(String(key)) ? guarded(made, failed) : made;
      };
    },
  });

const spans = /^(request|turn|delivery|step)$/;

const needed =
  /^(request|turn|delivery|gaveUp|transition|turnEvent|run|received|streams|saw|end|updated|step|replayed)$/;

const call = (fn: unknown, object: object, ...args: unknown[]) =>
  (fn as (...args: unknown[]) => object | undefined).apply(object, args);

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
