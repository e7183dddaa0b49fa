import type { Logger } from '@batonjs/server';
import { activeIds } from './trace-context.ts';

/**
 * Adds `traceId` and `spanId` of the active span to each line of a logger, if there is one. For loggers of your own: a server or
 * worker with `telemetry` does so by itself.
 *
 * ```ts
 * const logger = withTrace((level, message, details) => console.log(JSON.stringify({ level, message, ...details })));
 * ```
 */
export const withTrace =
  (logger: Logger): Logger =>
  (level, message, details) =>
    logger(level, message, { ...details, ...activeIds() });
