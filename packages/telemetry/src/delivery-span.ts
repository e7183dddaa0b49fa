import type { DeliveryEnd, DeliverySpan, DeliveryStart } from '@batonjs/server/adapter';
import {
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import type { Instruments } from './metrics/instruments.ts';
import { attributes as names, spans } from './names.ts';
import { attributesOfAddress } from './read-attributes.ts';
import { linkTo, runIn, withSpan } from './trace-context.ts';

/** One attempt to deliver an update, in a trace that links to the request that started the task. */
export class WebhookSpan implements DeliverySpan {
  readonly headers: Readonly<Record<string, string>>;
  readonly #span: Span;
  readonly #context: Context;
  readonly #instruments: () => Instruments;
  readonly #lagMs: number;

  constructor(start: DeliveryStart, tracer: Tracer, instruments: () => Instruments) {
    const { taskId, configId, attempt, url, lagMs, traceparent } = start;
    const link = linkTo(traceparent);
    const attributes = {
      [names.taskId]: taskId,
      [names.webhook]: configId,
      [names.attempt]: attempt,
      ...attributesOfAddress(url),
    };
    const links = link ? [link] : [];
    this.#span = tracer.startSpan(spans.push, { kind: SpanKind.PRODUCER, attributes, links }, ROOT_CONTEXT);
    this.#context = withSpan(ROOT_CONTEXT, this.#span);
    this.#instruments = instruments;
    this.#lagMs = lagMs;
    const headers: Record<string, string> = {};
    propagation.inject(this.#context, headers);
    this.headers = headers;
  }

  run<T>(fn: () => T): T {
    return runIn(this.#context, fn);
  }

  end({ outcome, status, reason }: DeliveryEnd): void {
    const { deliveries, deliveryLag } = this.#instruments();
    deliveries.add(1, { [names.outcome]: outcome });
    this.#span.setAttributes({ [names.outcome]: outcome, ...(status && { [names.httpStatus]: status }) });
    if (outcome === 'delivered') deliveryLag.record(this.#lagMs / 1_000);
    if (outcome === 'failed') {
      const kind = status === undefined ? kindOf(reason) : String(status);
      this.#span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute(names.errorType, kind);
    }
    this.#span.end();
  }
}

/** The kind of a failure without an answer: the code of the system, if there is one. */
function kindOf(reason = ''): string {
  const code = /^connection ([A-Z][A-Z_\d]*)$/.exec(reason)?.[1];
  return code ?? (reason.startsWith('no answer') ? 'timeout' : '_OTHER');
}
