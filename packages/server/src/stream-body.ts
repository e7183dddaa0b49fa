import { encodeSse, type ReceivedCall, type ServerBinding, sseHeartbeat } from '@batonjs/bindings';
import type { A2AError } from '@batonjs/protocol/errors';
import type { Clock } from './clock.ts';
import type { StreamEvent } from './stream-event.ts';

const heartbeatMs = 15_000;

/** What the body of a stream is made of. */
export interface StreamSource {
  readonly first: IteratorResult<StreamEvent>;
  readonly rest: AsyncIterator<StreamEvent>;
  readonly binding: ServerBinding;
  readonly call: ReceivedCall;
  readonly clock: Clock;
  readonly onError: (error: unknown) => A2AError;
}

/** The text of a stream: its events, comments while nothing happens, and an error as the last event if one ends it. */
export async function* streamBody({
  first,
  rest,
  binding,
  call,
  clock,
  onError,
}: StreamSource): AsyncGenerator<string> {
  const over = new AbortController();
  let beat: () => void = () => {};
  void (async () => {
    while (!over.signal.aborted) {
      await clock.sleep(heartbeatMs, over.signal);
      beat();
    }
  })();
  try {
    let next: IteratorResult<StreamEvent> | undefined = first;
    let pending: Promise<IteratorResult<StreamEvent>> | undefined;
    while (!next?.done) {
      if (next) {
        const { id, event, isLast } = next.value;
        yield encodeSse({ data: binding.encodeEvent(call, event, isLast), id });
        pending = rest.next();
      } else {
        yield sseHeartbeat;
      }
      next = await new Promise<IteratorResult<StreamEvent> | undefined>((resolve, reject) => {
        beat = () => resolve(undefined);
        pending?.then(resolve, reject);
      });
    }
  } catch (error) {
    const data = binding.encodeStreamError(onError(error), call);
    yield encodeSse({ data, event: binding.streamErrorEvent });
  } finally {
    over.abort();
    void rest.return?.();
  }
}
