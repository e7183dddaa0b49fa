import type { AgentCard } from '@batonjs/protocol';
import { askHook } from '@batonjs/protocol/hooks';
import type { OperationName } from '@batonjs/protocol/operations';
import type { CallOptions } from '../options/connect-options.ts';
import type { CallSpan, CallStart, ClientTelemetry } from '../options/telemetry.ts';
import type { RetryContext } from './retries.ts';

/** What the attempts of a call know of its span. */
export interface Retried extends Pick<CallSpan, 'retried'> {
  readonly headers?: CallSpan['headers'] | undefined;
}

/** The options of a call in a span. */
export interface InSpan extends CallOptions {
  readonly span?: Retried | undefined;
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

/** A result, or an event of a stream. */
export interface Replied {
  readonly event: unknown;
}

/** A call in a span of its own. A caller that leaves a stream is no error. */
export async function* tracedCall<Reply extends Replied>(
  telemetry: ClientTelemetry,
  start: CallStart,
  open: (span: InSpan['span']) => AsyncGenerator<Reply, void, void>,
): AsyncGenerator<Reply, void, void> {
  const ask = <T>(fn: () => T) => askHook('telemetry', fn);
  const span = ask(() => telemetry.call(start));
  const events = open({
    headers: ask(() => span?.headers),
    retried: (error) => ask(() => span?.retried(error)),
  });
  let failure: unknown;
  try {
    for (;;) {
      let asked: ReturnType<typeof events.next> | undefined;
      const next = () => (asked ??= events.next());
      // A generator does not keep the context that it was created in.
      ask(() => span?.run(() => void next()));
      const { done, value } = await next();
      if (done) return;
      ask(() => span?.saw(value.event));
      yield value;
    }
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    await events.return();
    ask(() => span?.end(failure));
  }
}
