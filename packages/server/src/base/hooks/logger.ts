import { guardHook } from '@batonjs/protocol/hooks';
import type { Telemetry } from './telemetry.ts';

/**
 * Receives everything that clients do not see: errors of agents, stores and webhooks, refused updates. A thrown error
 * is `details.err`, the name under which pino and bunyan write the message and stack of an error. Lines about a request
 * have its `requestId`, lines about a task its `taskId`; the error of an agent has both in the first turn of a task, if
 * that began right after the request in the same process. With `telemetry`, all lines inside a span have its `traceId` and
 * `spanId`.
 */
export type Logger = (
  level: 'error' | 'warn' | 'info',
  message: string,
  details: Readonly<Record<string, unknown>>,
) => void;

/** Logs the error of background work, unless it belongs to an outage of the store, which has lines of its own. */
export type ReportFailure = (
  message: string,
  details: Readonly<Record<string, unknown>> & { readonly error: unknown },
) => void;

/** A logger whose methods take the details first, as those of pino and bunyan do. It receives what a `Logger` receives. */
export interface LoggerMethods {
  error(details: object, message: string): void;
  warn(details: object, message: string): void;
  info(details: object, message: string): void;
}

/** The hook for a logger. A function is one already. Throws `TypeError` for anything else. */
export function toLogger(logger: Logger | LoggerMethods): Logger {
  if (typeof logger === 'function') return logger;
  const levels = ['error', 'warn', 'info'] as const;
  if (levels.some((level) => typeof logger?.[level] !== 'function'))
    throw new TypeError(
      '`logger` must be a function, or a logger with the methods `error`, `warn` and `info`',
    );
  return (level, message, details) => logger[level](details, message);
}

/** Errors and warnings to standard error. */
export const consoleLogger: Logger = (level, message, details) => {
  if (level === 'error') console.error(`[baton] ${message}`, details);
  if (level === 'warn') console.warn(`[baton] ${message}`, details);
};

/** The logger, guarded: it never throws, whatever the given one does. Lines in a span of telemetry name it. */
export const guardLogger = (logger: Logger, telemetry?: Pick<Telemetry, 'active'>): Logger =>
  guardHook('The logger', (level, message, details) => {
    const span = telemetry?.active?.();
    return logger(level, message, span ? { ...withErr(details), ...span } : withErr(details));
  });

/** The server names errors `error`. Under that name, pino and bunyan would write an `Error` as `{}`. */
function withErr(details: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!('error' in details)) return details;
  const { error: err, ...rest } = details;
  return { ...rest, err };
}
