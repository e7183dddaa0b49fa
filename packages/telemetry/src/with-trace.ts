import type { Log } from '@batonjs/server';
import { isSpanContextValid, trace } from '@opentelemetry/api';

/**
 * Adds `traceId` and `spanId` of the active span to each line of a log, if there is one.
 *
 * ```ts
 * const log = withTrace((level, message, details) => console.log(JSON.stringify({ level, message, ...details })));
 * ```
 */
export const withTrace =
  (log: Log): Log =>
  (level, message, details) => {
    const active = trace.getActiveSpan()?.spanContext();
    if (!active || !isSpanContextValid(active)) return log(level, message, details);
    log(level, message, { ...details, traceId: active.traceId, spanId: active.spanId });
  };
