import type { DeliverySpan, DeliveryStart } from '@batonjs/server/adapter';
import {
  type Attributes,
  type Context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import type { Instruments } from './metrics.ts';
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

  end(failure?: string): void {
    const { deliveries, deliveryLag } = this.#instruments();
    deliveries.add(1, { [names.outcome]: failure === undefined ? 'delivered' : 'failed' });
    if (failure === undefined) deliveryLag.record(this.#lagMs / 1_000);
    else this.#span.setStatus({ code: SpanStatusCode.ERROR }).setAttributes(kindOf(failure));
    this.#span.end();
  }
}

/** The kind of a failure: its status, or the code of the system. */
function kindOf(failure: string): Attributes {
  const [, status] = /^answered (\d{3})$/.exec(failure) ?? [];
  if (status) return { [names.errorType]: status, [names.httpStatus]: Number(status) };
  const [, code] = /^connection ([A-Z][A-Z_\d]*)$/.exec(failure) ?? [];
  return { [names.errorType]: code ?? (failure.startsWith('no answer') ? 'timeout' : '_OTHER') };
}
