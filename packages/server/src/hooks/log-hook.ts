/**
 * Where everything is told that clients are not: errors of agents, stores and webhooks, refused updates. What was thrown is
 * `details.err`, the name under which pino and bunyan write the message and stack of an error:
 * `log: (level, message, details) => logger[level](details, message)`.
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
