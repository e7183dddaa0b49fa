import { consoleLog, type Log } from './log-hook.ts';
import type { Telemetry } from './telemetry.ts';

/** The log hook, guarded: it never throws, whatever the given one does. Lines in a span of telemetry name it. */
export function guardLog(log: Log, telemetry?: Pick<Telemetry, 'active'>): Log {
  return (level, message, details) => {
    try {
      const span = telemetry?.active?.();
      log(level, message, span ? { ...withErr(details), ...span } : withErr(details));
    } catch (error) {
      try {
        consoleLog('error', 'The log hook failed', { err: error });
      } catch {
        // The value that the hook threw cannot be printed either.
        consoleLog('error', 'The log hook failed', { at: message });
      }
    }
  };
}

/** The server names errors `error`. Under that name, pino and bunyan would write an `Error` as `{}`. */
function withErr(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('error' in details)) return details;
  const { error: err, ...rest } = details;
  return { ...rest, err };
}

/** A hook of the user, guarded: an error that it throws is logged under `name`, and the task goes on. */
export function guardHook<Event>(
  name: string,
  hook: ((event: Event) => void) | undefined,
  log: Log,
): (event: Event) => void {
  return (event) => {
    try {
      hook?.(event);
    } catch (error) {
      log('error', `The ${name} hook failed`, { error });
    }
  };
}
