import type { Logger } from '@batonjs/server';
import { type Context, context, isSpanContextValid, type Link, type Span, trace } from '@opentelemetry/api';

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

/** The `traceparent` of a span; undefined if it has no identity. W3C Trace Context §3.2. */
export function traceparentOf(span: Span): string | undefined {
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return undefined;
  const flags = (spanContext.traceFlags & 0xff).toString(16).padStart(2, '0');
  return `00-${spanContext.traceId}-${spanContext.spanId}-${flags}`;
}

/** The ids of the active span; undefined if there is none. */
export function activeIds(): { readonly traceId: string; readonly spanId: string } | undefined {
  const active = trace.getActiveSpan()?.spanContext();
  return active && isSpanContextValid(active)
    ? { traceId: active.traceId, spanId: active.spanId }
    : undefined;
}

/** The link to a stored `traceparent`. Undefined if it is missing or does not parse. */
export function linkTo(traceparent: string | undefined): Link | undefined {
  const [, traceId, spanId, flags] =
    /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(spanContext) ? { context: spanContext } : undefined;
}

/** Calls a function in the context of a span. */
export const runIn = <T>(at: Context, fn: () => T): T => context.with(at, fn);

export const withSpan = (base: Context, span: Span): Context => trace.setSpan(base, span);
