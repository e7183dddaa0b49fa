import { consoleLogger, type Logger } from './logger.ts';
import type { Telemetry } from './telemetry.ts';

/** The logger, guarded: it never throws, whatever the given one does. Lines in a span of telemetry name it. */
export function guardLogger(logger: Logger, telemetry?: Pick<Telemetry, 'active'>): Logger {
  return (level, message, details) => {
    try {
      const span = telemetry?.active?.();
      logger(level, message, span ? { ...withErr(details), ...span } : withErr(details));
    } catch (error) {
      try {
        consoleLogger('error', 'The logger failed', { err: error });
      } catch {
        // The value that the hook threw cannot be printed either.
        consoleLogger('error', 'The logger failed', { at: message });
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

/** A hook of the user, guarded: an error that it throws or rejects with is logged under `name`, and the task goes on. */
export function guardHook<Event>(
  name: string,
  hook: ((event: Event) => unknown) | undefined,
  logger: Logger,
): (event: Event) => void {
  const failed = (error: unknown) => logger('error', `The ${name} hook failed`, { error });
  return (event) => {
    try {
      const called = hook?.(event);
      // Unhandled, the rejection of an `async` hook would end the process.
      if (called instanceof Promise) called.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
