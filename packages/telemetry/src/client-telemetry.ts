import type { CallSpan, CallStart, ClientTelemetry } from '@batonjs/client';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { events, attributes as names, scope } from './names.ts';
import { attributesOfAddress, attributesOfParams, attributesOfResult, errorType } from './read-attributes.ts';
import type { TelemetryOptions } from './telemetry.ts';
import { runIn, withSpan } from './trace-context.ts';

/**
 * Passes the calls of a client to OpenTelemetry: a span for each, with its retries as events, and the headers by which
 * the agent continues the trace. Pass it as `telemetry` to `connect`. It records ids, states and times, never content.
 */
export function clientTelemetry({
  tracerProvider,
}: Pick<TelemetryOptions, 'tracerProvider'> = {}): ClientTelemetry {
  const tracer = (tracerProvider ?? trace).getTracer(scope);
  return { call: (start) => new ClientCallSpan(start, tracer) };
}

class ClientCallSpan implements CallSpan {
  readonly headers: Readonly<Record<string, string>>;
  readonly #span: Span;
  readonly #context: Context;
  #seen: Attributes = {};

  constructor(
    { operation, params, card, address, version, binding, lastEventId }: CallStart,
    tracer: Tracer,
  ) {
    const attributes: Attributes = {
      [names.method]: operation,
      [names.protocolVersion]: version,
      [names.binding]: binding,
      [names.agentName]: card.name,
      [names.agentVersion]: card.version,
      ...attributesOfAddress(address),
      ...attributesOfParams(params),
    };
    const parent = context.active();
    this.#span = tracer.startSpan(operation, { kind: SpanKind.CLIENT, attributes }, parent);
    this.#context = withSpan(parent, this.#span);
    if (lastEventId !== undefined) this.#span.addEvent(events.resumed);
    const headers: Record<string, string> = {};
    propagation.inject(this.#context, headers);
    this.headers = headers;
  }

  run<T>(fn: () => T): T {
    return runIn(this.#context, fn);
  }

  retried(error: unknown): void {
    this.#span.addEvent(events.retry, { [names.errorType]: errorType(error) });
  }

  saw(result: unknown): void {
    this.#seen = { ...this.#seen, ...attributesOfResult(result) };
  }

  end(error?: unknown): void {
    this.#span.setAttributes(this.#seen);
    if (error !== undefined) {
      this.#span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute(names.errorType, errorType(error));
    }
    this.#span.end();
  }
}
