import type {
  DeliveryEnd,
  DeliverySpan,
  DeliveryStart,
  StepSpan,
  TurnEnd,
  TurnSpan,
  TurnStart,
} from '@batonjs/server/adapter';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Instruments } from './metrics/registry.ts';
import { events, attributes as names, spans } from './names.ts';
import { attributesOfAddress, errorType } from './read-attributes.ts';
import { linkTo, runIn, withSpan } from './with-trace.ts';

/**
 * One attempt of a turn. It is a child of the request if the same process called the agent at once. Otherwise it begins a trace
 * that links to the request: a turn may run hours after it, in another process. Its kind is that of a consumer in workers.
 */
export class AttemptSpan implements TurnSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;
  readonly #context: Context;
  readonly #instruments: () => Instruments;
  readonly #labels: Attributes;
  readonly #began = performance.now();

  constructor(start: TurnStart, tracer: Tracer, instruments: () => Instruments) {
    const { taskId, contextId, turn, attempt, cause, isImmediate, isWorker } = start;
    this.#tracer = tracer;
    this.#instruments = instruments;
    this.#labels = { [names.cause]: cause };
    if (start.waitedMs !== undefined) instruments().turnWait.record(start.waitedMs / 1_000, this.#labels);
    const request = linkTo(start.traceparent);
    const parent =
      isImmediate && request ? trace.setSpanContext(context.active(), request.context) : ROOT_CONTEXT;
    const attributes = {
      [names.taskId]: taskId,
      [names.contextId]: contextId,
      [names.turn]: turn,
      [names.attempt]: attempt,
      [names.cause]: cause,
    };
    this.#span = tracer.startSpan(
      spans.turn,
      {
        kind: isWorker ? SpanKind.CONSUMER : SpanKind.INTERNAL,
        attributes,
        links: request && !isImmediate ? [request] : [],
      },
      parent,
    );
    this.#context = withSpan(parent, this.#span);
  }

  run<T>(fn: () => T): T {
    return runIn(this.#context, fn);
  }

  updated(): void {
    this.#instruments().firstUpdate.record((performance.now() - this.#began) / 1_000, this.#labels);
  }

  step(name: string, attempt?: number): StepSpan {
    const parent = this.#below(context.active());
    const attributes = { [names.step]: name, ...(attempt !== undefined && { [names.stepAttempt]: attempt }) };
    const span = this.#tracer.startSpan(spans.step, { attributes }, parent);
    const inside = withSpan(parent, span);
    return {
      run: (fn) => runIn(inside, fn),
      end(error) {
        if (error !== undefined) fail(span, error);
        span.end();
      },
    };
  }

  replayed(name: string): void {
    this.#span.addEvent(events.stepReplayed, { [names.step]: name });
  }

  end({ state, halted, error }: TurnEnd): void {
    const ended: Attributes = {
      ...(state && { [names.taskState]: state }),
      ...(halted && { [names.halted]: halted }),
    };
    this.#span.setAttributes(ended);
    if (error !== undefined && !halted) fail(this.#span, error);
    this.#span.end();
    const seconds = (performance.now() - this.#began) / 1_000;
    this.#instruments().turnDuration.record(seconds, { ...this.#labels, ...ended });
  }

  /** The context of the caller, if it is one of this turn; otherwise that of the turn. */
  #below(active: Context): Context {
    const { traceId } = this.#span.spanContext();
    return trace.getSpanContext(active)?.traceId === traceId ? active : this.#context;
  }
}

function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute(names.errorType, errorType(error));
}

/** One attempt to deliver an update, in a trace that links to the request that started the task. */
export function webhookSpan(
  { taskId, configId, attempt, url, lagMs, traceparent }: DeliveryStart,
  tracer: Tracer,
  instruments: () => Instruments,
): DeliverySpan {
  const link = linkTo(traceparent);
  const attributes = {
    [names.taskId]: taskId,
    [names.webhook]: configId,
    [names.attempt]: attempt,
    ...attributesOfAddress(url),
  };
  const links = link ? [link] : [];
  const span = tracer.startSpan(spans.push, { kind: SpanKind.PRODUCER, attributes, links }, ROOT_CONTEXT);
  const inside = withSpan(ROOT_CONTEXT, span);
  const headers: Record<string, string> = {};
  propagation.inject(inside, headers);
  return {
    headers,
    run: (fn) => runIn(inside, fn),
    end({ outcome, status, reason }: DeliveryEnd) {
      const { deliveries, deliveryLag } = instruments();
      deliveries.add(1, { [names.outcome]: outcome });
      span.setAttributes({ [names.outcome]: outcome, ...(status && { [names.httpStatus]: status }) });
      if (outcome === 'delivered') deliveryLag.record(lagMs / 1_000);
      if (outcome === 'failed') {
        const kind = status === undefined ? kindOf(reason) : String(status);
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute(names.errorType, kind);
      }
      span.end();
    },
  };
}

/** The kind of a failure without an answer: the code of the system, if there is one. */
function kindOf(reason = ''): string {
  const code = /^connection ([A-Z][A-Z_\d]*)$/.exec(reason)?.[1];
  return code ?? (reason.startsWith('no answer') ? 'timeout' : '_OTHER');
}
