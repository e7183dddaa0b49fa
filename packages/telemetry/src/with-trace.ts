import type { Log } from '@batonjs/server';
import { activeIds } from './trace-context.ts';

/**
 * Adds `traceId` and `spanId` of the active span to each line of a log, if there is one. For logs of your own: a server or
 * worker with `telemetry` does so by itself.
 *
 * ```ts
 * const log = withTrace((level, message, details) => console.log(JSON.stringify({ level, message, ...details })));
 * ```
 */
export const withTrace =
  (log: Log): Log =>
  (level, message, details) =>
    log(level, message, { ...details, ...activeIds() });
