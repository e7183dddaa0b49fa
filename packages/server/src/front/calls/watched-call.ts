import type { AnswerCall, CallAnswer, CallEvents, IncomingCall } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { RequestWatch, WatchedRequest } from '../../base/hooks/request-watch.ts';

type Answer = (incoming: IncomingCall, seen?: WatchedRequest) => Promise<CallAnswer>;

const noQuery = new URLSearchParams();

/** `answer`, whose calls are shown to those who watch. `addressOf`: where the agent is reached over a binding. */
export const withCallWatch =
  (answer: Answer, watch: RequestWatch, addressOf: (binding: string) => string | undefined): AnswerCall =>
  (incoming) =>
    watch.isOn
      ? watchedAnswer(incoming, answer, begin(incoming, watch, addressOf(incoming.binding)))
      : answer(incoming);

function begin(
  { operation, binding, version, path, headers, opening }: IncomingCall,
  watch: RequestWatch,
  baseUrl: string | undefined,
): WatchedRequest {
  const seen = watch.begin({
    method: 'POST',
    path,
    query: noQuery,
    headers: { ...opening, ...headers },
    baseUrl,
  });
  seen.named({ operation, binding, version });
  return seen;
}

async function watchedAnswer(
  incoming: IncomingCall,
  answer: Answer,
  seen: WatchedRequest,
): Promise<CallAnswer> {
  const readParams = () => {
    const value = incoming.readParams();
    seen.sent({ value });
    return value;
  };
  try {
    const given = await answer({ ...incoming, readParams }, seen);
    seen.answered('OK', false, {});
    if ('events' in given) return { ...given, events: new WatchedEvents(given.events, seen) };
    seen.said(JSON.stringify(given.result) ?? '');
    seen.ended();
    return given;
  } catch (error) {
    fail(error, seen);
    throw error;
  }
}

function fail(error: unknown, seen: WatchedRequest): void {
  const { reason, message } = A2AError.from(error);
  seen.answered(reason, true, {});
  seen.said(JSON.stringify({ reason, message }));
  seen.ended();
}

/** The events of a stream, which are shown as its reader takes them. */
class WatchedEvents implements CallEvents {
  readonly #events: CallEvents;
  readonly #seen: WatchedRequest;

  constructor(events: CallEvents, seen: WatchedRequest) {
    this.#events = events;
    this.#seen = seen;
  }

  async next(): ReturnType<CallEvents['next']> {
    try {
      const batch = await this.#events.next();
      if (!batch) this.#seen.ended();
      for (const { event } of batch?.events ?? []) this.#seen.said(`${event.text}\n`);
      return batch;
    } catch (error) {
      this.#seen.said(JSON.stringify({ reason: A2AError.from(error).reason }));
      this.#seen.ended();
      throw error;
    }
  }

  close(): void {
    this.#seen.ended();
    this.#events.close();
  }
}
