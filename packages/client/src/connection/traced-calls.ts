import type { AgentCard } from '@batonjs/protocol';
import type { OperationName } from '@batonjs/protocol/operations';
import type { CallOptions } from '../options/connect-options.ts';
import type { CallSpan, CallStart, ClientTelemetry } from '../options/telemetry.ts';
import type { RetryContext } from './retries.ts';

/** The options of a call in a span. */
export interface InSpan extends CallOptions {
  readonly span?: CallSpan | undefined;
}

/** What telemetry learns of a call that begins, on the interface in use. */
export function callStart(
  { card, address, candidates, current }: RetryContext & { readonly card: AgentCard },
  operation: OperationName,
  params: CallStart['params'],
  lastEventId?: string,
): CallStart {
  const { name, version } = candidates[current]!.codec;
  return { operation, params, card, address, version, binding: name, lastEventId };
}

/** A call with a single reply, in a span of its own. */
export async function tracedCall(
  telemetry: ClientTelemetry,
  start: CallStart,
  call: (span: CallSpan) => Promise<unknown>,
): Promise<unknown> {
  const span = telemetry.call(start);
  try {
    const result = await span.run(() => call(span));
    span.saw(result);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** A call that is answered by a stream, in a span of its own. */
export async function* tracedStream<Positioned extends { readonly event: unknown }>(
  telemetry: ClientTelemetry,
  start: CallStart,
  open: (span: CallSpan) => AsyncIterable<Positioned>,
): AsyncGenerator<Positioned, void, void> {
  const span = telemetry.call(start);
  let failure: unknown;
  try {
    for await (const positioned of span.iterate(open(span))) {
      span.saw(positioned.event);
      yield positioned;
    }
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    span.end(failure);
  }
}
