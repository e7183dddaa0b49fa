import type { RequestSpan, RequestStart } from '@batonjs/server/adapter';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Instruments } from './metrics/registry.ts';
import { attributes as names } from './names.ts';
import { attributesOfAddress, attributesOfParams, attributesOfResult, errorType } from './read-attributes.ts';
import { runIn, traceparentOf, withSpan } from './with-trace.ts';

/**
 * A call of a server. Where the instrumentation of HTTP or gRPC made a span already, that span gets the attributes;
 * otherwise the call gets a span of its own, below the one of the client.
 */
export class ServerRequestSpan implements RequestSpan {
  readonly #span: Span;
  /** Whether the span is made here, and not by the instrumentation of the transport. */
  readonly #isOwn: boolean;
  readonly #context: Context;
  readonly #instruments: () => Instruments;
  readonly #labels: Attributes;
  readonly #began = performance.now();
  #seen: Attributes = {};
  #isStream = false;
  #isOver = false;

  /** `namesClient`: whether the span has the client's network address. */
  constructor(start: RequestStart, tracer: Tracer, instruments: () => Instruments, namesClient: boolean) {
    const { operation, params = {}, headers, version, binding, baseUrl, card, remoteAddress } = start;
    this.#instruments = instruments;
    this.#labels = { [names.method]: operation, [names.binding]: binding };
    const attributes: Attributes = {
      [names.method]: operation,
      [names.protocolVersion]: version,
      [names.binding]: binding,
      [names.agentName]: card.name,
      [names.agentVersion]: card.version,
      ...attributesOfAddress(baseUrl),
      ...(namesClient && remoteAddress !== undefined && { [names.clientAddress]: remoteAddress }),
      ...attributesOfParams(params),
    };
    const active = trace.getActiveSpan();
    this.#isOwn = !isOfTransport(active);
    if (active && !this.#isOwn) {
      active.setAttributes(attributes);
      if (binding !== 'GRPC') active.updateName(operation);
      this.#span = active;
      this.#context = context.active();
      return;
    }
    const parent = propagation.extract(context.active(), headers, fromHeaders);
    this.#span = tracer.startSpan(operation, { kind: SpanKind.SERVER, attributes }, parent);
    this.#context = withSpan(parent, this.#span);
  }

  get traceparent(): string | undefined {
    return traceparentOf(this.#span);
  }

  run<T>(fn: () => T): T {
    return runIn(this.#context, fn);
  }

  received(params: Readonly<Record<string, unknown>>): void {
    this.#span.setAttributes(attributesOfParams(params));
  }

  streams(): void {
    this.#isStream = true;
    this.#instruments().followers.add(1);
  }

  saw(result: unknown): void {
    // Set when the span ends: what an event costs must not grow with the stream.
    this.#seen = { ...this.#seen, ...attributesOfResult(result) };
  }

  end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { followers, requestDuration } = this.#instruments();
    if (this.#isStream) followers.add(-1);
    const failure: Attributes = error === undefined ? {} : { [names.errorType]: errorType(error) };
    this.#span.setAttributes({ ...this.#seen, ...failure });
    if (error !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    if (this.#isOwn) this.#span.end();
    requestDuration.record((performance.now() - this.#began) / 1_000, { ...this.#labels, ...failure });
  }
}

/** Whether the active span is one that the instrumentation of HTTP or gRPC made for this request. */
const isOfTransport = (span: Span | undefined): boolean =>
  Boolean(span?.isRecording()) && (span as { kind?: SpanKind }).kind === SpanKind.SERVER;

type Headers = RequestStart['headers'];

const fromHeaders: TextMapGetter<Headers> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name.toLowerCase()],
};
