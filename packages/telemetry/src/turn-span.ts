import type { DeliveryEnd, DeliverySpan, DeliveryStart, TurnSpan, TurnStart } from '@batonjs/server/adapter';
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
export function attemptSpan(
  { taskId, contextId, turn, attempt, cause, isImmediate, isWorker, waitedMs, traceparent }: TurnStart,
  tracer: Tracer,
  instruments: () => Instruments,
): TurnSpan {
  const began = performance.now();
  const labels = { [names.cause]: cause };
  if (waitedMs !== undefined) instruments().turnWait.record(waitedMs / 1_000, labels);
  const request = linkTo(traceparent);
  const parent =
    isImmediate && request ? trace.setSpanContext(context.active(), request.context) : ROOT_CONTEXT;
  const attributes = {
    [names.taskId]: taskId,
    [names.contextId]: contextId,
    [names.turn]: turn,
    [names.attempt]: attempt,
    ...labels,
  };
  const kind = isWorker ? SpanKind.CONSUMER : SpanKind.INTERNAL;
  const links = request && !isImmediate ? [request] : [];
  const span = tracer.startSpan(spans.turn, { kind, attributes, links }, parent);
  const ofTurn = withSpan(parent, span);

  /** The context of the caller, if it is one of this turn; otherwise that of the turn. */
  const below = (active: Context): Context =>
    trace.getSpanContext(active)?.traceId === span.spanContext().traceId ? active : ofTurn;

  return {
    run: (fn) => runIn(ofTurn, fn),
    updated: () => instruments().firstUpdate.record((performance.now() - began) / 1_000, labels),
    step(name, attempt) {
      const parent = below(context.active());
      const attributes = {
        [names.step]: name,
        ...(attempt !== undefined && { [names.stepAttempt]: attempt }),
      };
      const span = tracer.startSpan(spans.step, { attributes }, parent);
      const inside = withSpan(parent, span);
      return {
        run: (fn) => runIn(inside, fn),
        end(error) {
          if (error !== undefined) fail(span, error);
          span.end();
        },
      };
    },
    used: (usage) => countUsage(usage, instruments()),
    replayed: (name) => void span.addEvent(events.stepReplayed, { [names.step]: name }),
    end({ state, halted, error }) {
      const ended: Attributes = {
        ...(state && { [names.taskState]: state }),
        ...(halted && { [names.halted]: halted }),
      };
      span.setAttributes(ended);
      if (error !== undefined && !halted) fail(span, error);
      span.end();
      instruments().turnDuration.record((performance.now() - began) / 1_000, { ...labels, ...ended });
    },
  };
}

type Usage = Parameters<NonNullable<TurnSpan['used']>>[0];

/** The models that are labels in this process. */
const models = new Set<string>();
const mostModels = 50;

function countUsage(
  { model, inputTokens = 0, outputTokens = 0, cost, currency }: Usage,
  { modelTokens, modelCost }: Instruments,
): void {
  if (models.size < mostModels) models.add(model);
  const label = { [names.model]: models.has(model) ? model : 'other' };
  modelTokens.add(inputTokens, { ...label, [names.tokenType]: 'input' });
  modelTokens.add(outputTokens, { ...label, [names.tokenType]: 'output' });
  if (cost !== undefined) modelCost.add(cost, { ...label, [names.currency]: currency });
}

export function fail(span: Span, error: unknown): void {
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
