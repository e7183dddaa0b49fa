import type { CallSpan, CallStart, ClientTelemetry } from '@batonjs/client';
import type { TaskState } from '@batonjs/protocol';
import type { RequestSpan, RequestStart, Telemetry } from '@batonjs/server/adapter';
import {
  type Attributes,
  context,
  type MeterProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { Observed } from './metrics/gauges.ts';
import { keepRegistry } from './metrics/handler.ts';
import { type Instruments, instrumentsOf, makeInstruments, Registry } from './metrics/registry.ts';
import { events, attributes as names, scope } from './names.ts';
import { attributesOfAddress, attributesOfParams, attributesOfResult, errorType } from './read-attributes.ts';
import { attemptSpan, fail, webhookSpan } from './turn-span.ts';
import { activeIds, runIn, traceparentOf, withSpan } from './with-trace.ts';

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Makes the tracer. Default: the provider that is registered globally. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the meter. Default: the provider that is registered globally. */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether spans of requests name the network address of the client, which is personal data. Behind a proxy it is that of
   * the proxy, unless the framework was told to trust it. Default false.
   */
  readonly clientAddress?: boolean | undefined;
  /**
   * Whether metrics are also kept in this process, for `metricsHandler`. Needs no SDK of OpenTelemetry. Give all servers
   * and workers of a process the same telemetry then. Default false.
   */
  readonly expose?: boolean | undefined;
}

/**
 * Passes what a server or worker does to OpenTelemetry: a span for each request, attempt of a turn, step and delivery to a
 * webhook, and metrics. Pass it as `telemetry` to `createAgentServer` or `createWorker`. It records ids, states and times, and
 * never content, metadata, credentials, URLs of webhooks or texts of errors. Without an SDK of OpenTelemetry it has no effect.
 */
export function telemetry({
  tracerProvider,
  meterProvider,
  clientAddress = false,
  expose = false,
}: TelemetryOptions = {}): Telemetry {
  const tracer = (tracerProvider ?? trace).getTracer(scope);
  const registry = expose ? new Registry() : undefined;
  const observed = new Observed();
  const instruments = instrumentsOf(meterProvider, registry, (meter) => observed.register(meter));
  if (registry) {
    observed.register(registry);
    beginAtZero(makeInstruments([registry]));
  }
  const made: Telemetry = {
    request: (start) => requestSpan(start, tracer, instruments, clientAddress),
    turn: (start) => attemptSpan(start, tracer, instruments),
    delivery: (start) => webhookSpan(start, tracer, instruments),
    active: activeIds,
    detached: (fn) => runIn(ROOT_CONTEXT, fn),
    gaveUp: () => instruments().deliveries.add(1, { [names.outcome]: 'given_up' }),
    transition(from, to, code) {
      if (from === undefined) instruments().createdTasks.add(1);
      if (terminal.includes(to)) instruments().endedTasks.add(1, { [names.taskState]: to });
      if (to === 'TASK_STATE_FAILED')
        instruments().failedTasks.add(1, { [names.errorType]: code ?? '_OTHER' });
    },
    turnEvent(type) {
      if (type === 'taken-over') instruments().recoveredTurns.add(1);
      if (type === 'failed') instruments().failedAttempts.add(1);
      if (type === 'lost') instruments().lostLeases.add(1);
    },
    started(process) {
      // The gauges of an SDK that was started before are made now.
      instruments();
      return observed.add(process);
    },
    stored({ operation, system, ms, error }) {
      const about: Attributes = {
        [names.operation]: operation,
        ...(system !== undefined && { [names.databaseSystem]: system }),
        ...(error !== undefined && { [names.errorType]: errorType(error) }),
      };
      instruments().storeOperation.record(ms / 1_000, about);
    },
  };
  if (registry) keepRegistry(made, registry);
  return made;
}

/** A counter that begins with its first event hides it: an increase is measured from the first value on. */
function beginAtZero({
  endedTasks,
  createdTasks,
  recoveredTurns,
  failedAttempts,
  lostLeases,
  deliveries,
}: Instruments) {
  for (const counter of [createdTasks, recoveredTurns, failedAttempts, lostLeases]) counter.add(0);
  for (const state of terminal) endedTasks.add(0, { [names.taskState]: state });
  for (const outcome of ['delivered', 'failed', 'handed_back', 'given_up'])
    deliveries.add(0, { [names.outcome]: outcome });
}

const terminal: readonly string[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] satisfies TaskState[];

/**
 * Passes the calls of a client to OpenTelemetry: a span for each, with its retries as events, and the headers by which
 * the agent continues the trace. Pass it as `telemetry` to `connect`. It records ids, states and times, never content.
 */
export function clientTelemetry({
  tracerProvider,
}: Pick<TelemetryOptions, 'tracerProvider'> = {}): ClientTelemetry {
  const tracer = (tracerProvider ?? trace).getTracer(scope);
  return { call: (start) => callSpan(start, tracer) };
}

function callSpan(
  { operation, params, card, address, version, binding, lastEventId }: CallStart,
  tracer: Tracer,
): CallSpan {
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
  const span = tracer.startSpan(operation, { kind: SpanKind.CLIENT, attributes }, parent);
  const inside = withSpan(parent, span);
  if (lastEventId !== undefined) span.addEvent(events.resumed);
  const headers: Record<string, string> = {};
  propagation.inject(inside, headers);
  let seen: Attributes = {};
  return {
    headers,
    run: (fn) => runIn(inside, fn),
    retried: (error) => void span.addEvent(events.retry, { [names.errorType]: errorType(error) }),
    saw(result) {
      seen = { ...seen, ...attributesOfResult(result) };
    },
    end(error) {
      span.setAttributes(seen);
      if (error !== undefined) fail(span, error);
      span.end();
    },
  };
}

/**
 * A call of a server. Where the instrumentation of HTTP or gRPC made a span already, that span gets the attributes;
 * otherwise the call gets a span of its own, below the one of the client. `namesClient`: whether the span has the client's
 * network address.
 */
function requestSpan(
  { operation, params = {}, headers, version, binding, baseUrl, card, remoteAddress }: RequestStart,
  tracer: Tracer,
  instruments: () => Instruments,
  namesClient: boolean,
): RequestSpan {
  const began = performance.now();
  const labels = { [names.method]: operation, [names.binding]: binding };
  const attributes: Attributes = {
    ...labels,
    [names.protocolVersion]: version,
    [names.agentName]: card.name,
    [names.agentVersion]: card.version,
    ...attributesOfAddress(baseUrl),
    ...(namesClient && remoteAddress !== undefined && { [names.clientAddress]: remoteAddress }),
    ...attributesOfParams(params),
  };
  const active = trace.getActiveSpan();
  const ofTransport = isOfTransport(active) ? active : undefined;
  ofTransport?.setAttributes(attributes);
  if (binding !== 'GRPC') ofTransport?.updateName(operation);
  const parent = ofTransport ? context.active() : propagation.extract(context.active(), headers, fromHeaders);
  const span = ofTransport ?? tracer.startSpan(operation, { kind: SpanKind.SERVER, attributes }, parent);
  const inside = ofTransport ? parent : withSpan(parent, span);
  let seen: Attributes = {};
  let isStream = false;
  let isOver = false;
  return {
    get traceparent() {
      return traceparentOf(span);
    },
    run: (fn) => runIn(inside, fn),
    received: (params) => void span.setAttributes(attributesOfParams(params)),
    streams() {
      isStream = true;
      instruments().followers.add(1);
    },
    saw(result) {
      // Set when the span ends: what an event costs must not grow with the stream.
      seen = { ...seen, ...attributesOfResult(result) };
    },
    end(error) {
      if (isOver) return;
      isOver = true;
      const { followers, requestDuration } = instruments();
      if (isStream) followers.add(-1);
      const failure: Attributes = error === undefined ? {} : { [names.errorType]: errorType(error) };
      span.setAttributes({ ...seen, ...failure });
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      if (!ofTransport) span.end();
      requestDuration.record((performance.now() - began) / 1_000, { ...labels, ...failure });
    },
  };
}

/** Whether the active span is one that the instrumentation of HTTP or gRPC made for this request. */
const isOfTransport = (span: Span | undefined): boolean =>
  Boolean(span?.isRecording()) && (span as { kind?: SpanKind }).kind === SpanKind.SERVER;

type Headers = RequestStart['headers'];

const fromHeaders: TextMapGetter<Headers> = {
  keys: (headers) => Object.keys(headers),
  get: (headers, name) => headers[name.toLowerCase()],
};
