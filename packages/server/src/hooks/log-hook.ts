/**
 * Receives everything that clients do not see: errors of agents, stores and webhooks, refused updates. A thrown error
 * is `details.err`, the name under which pino and bunyan write the message and stack of an error: `log: (level,
 * message, details) => logger[level](details, message)`. Lines about a request have its `requestId`, lines about a task
 * its `taskId`, and with `telemetry` all lines inside a span have its `traceId` and `spanId`.
 */
export type Log = (
  level: 'error' | 'warn' | 'info',
  message: string,
  details: Readonly<Record<string, unknown>>,
) => void;

/** Errors and warnings to standard error. */
export const consoleLog: Log = (level, message, details) => {
  if (level === 'error') console.error(`[baton] ${message}`, details);
  if (level === 'warn') console.warn(`[baton] ${message}`, details);
};
