import type { AnswerCall, CallEvents, CallTarget } from '@batonjs/bindings';
import type { A2AError } from '@batonjs/protocol/errors';
import { A2A_VERSION, IMPLIED_VERSION, parseVersion } from '@batonjs/protocol/headers';
import type { Caller } from '../../agent/caller.ts';
import { type RequestWatch, shownCaller } from '../../base/hooks/request-watch.ts';
import {
  type Events as EventSource,
  type RequestSpan,
  runIn,
  TracedEvents,
} from '../../base/hooks/telemetry.ts';
import { newId } from '../../base/system/new-id.ts';
import type { Clock } from '../../base/timing/clock.ts';
import type { EventBatch } from '../../log/event-stream.ts';
import type { FrontCalls } from '../../operations/call/inside-of.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import { withChallenge } from '../../operations/card/security.ts';
import { type Answer, type AnsweringParts, answerCall, type DecodedCall } from './answer-call.ts';
import { admittedCaller, callerOf, type RequestHead } from './caller-limits.ts';
import { withCallWatch } from './watched-call.ts';

const noQuery = new URLSearchParams();

/** Makes the function that answers calls of bindings that are not HTTP. */
export const createAnswerCall = (parts: AnsweringParts, watch: RequestWatch): AnswerCall =>
  withCallWatch(
    async (incoming, seen) => {
      const { operation, path, headers, version, opening, binding, remoteAddress, signal } = incoming;
      const { card, cards, telemetry, clock, logger } = parts.dependencies;
      const requestId = requestIdOf(headers, clock);
      const baseUrl = telemetry && cards.addressOf(binding);
      const span = telemetry?.request({
        operation,
        card,
        headers,
        version,
        binding,
        baseUrl,
        remoteAddress,
      });
      try {
        const head = opening
          ? openingHead(path, opening, remoteAddress)
          : { method: 'POST', path, query: noQuery, headers, remoteAddress };
        const decoded = {
          ...{ version, headers, signal, requestId, span, head, servedVersions: [version] },
          statedVersion: parseVersion(headers[A2A_VERSION.toLowerCase()]) ?? IMPLIED_VERSION,
          ask: () => shownCaller(admittedCaller(head, parts.admission), seen),
          readCall: () => ({ operation, params: incoming.readParams(), lastEventId: incoming.lastEventId }),
        };
        const answer = await (span ? inSpan(span, decoded, parts) : answerCall(decoded, parts));
        const { extensions } = answer;
        if ('result' in answer) return { extensions, result: answer.result };
        return { extensions, events: new Events(answer.stream, answer.first, answer.onError) };
      } catch (error) {
        const wire = runIn(span, () => toWireError(error, logger, { requestId, operation, path }));
        span?.end(wire);
        throw withChallenge(wire, card);
      }
    },
    watch,
    (binding) => parts.dependencies.cards.addressOf(binding),
  );

/** Makes the function that finds out who opens a connection for several calls. */
export const createCheckCaller =
  (parts: AnsweringParts): CallTarget['checkCaller'] =>
  async ({ path, headers }) => {
    const head = openingHead(path, headers);
    return (await shownRefusal(callerOf(head, parts.admission.authenticate), head, parts))?.scope;
  };

/** Makes the function that answers the calls of one request of a front end. Its caller is asked and counted once, for all. */
export const createCallsOf =
  (
    parts: AnsweringParts,
    fetchWith: (ask: DecodedCall['ask'], remoteAddress: string | undefined) => FrontCalls['fetch'],
  ) =>
  (head: RequestHead): FrontCalls => {
    let asked: Promise<Caller | undefined> | undefined;
    const ask = () => (asked ??= admittedCaller(head, parts.admission));
    return { ask: () => shownRefusal(ask(), head, parts), fetch: fetchWith(ask, head.remoteAddress) };
  };

/** The caller. A refusal is logged, and becomes what the caller may see. */
const shownRefusal = <Asked>(
  asked: Promise<Asked>,
  { path, headers }: RequestHead,
  { dependencies: { card, clock, logger } }: AnsweringParts,
): Promise<Asked> =>
  asked.catch((error: unknown) => {
    const requestId = requestIdOf(headers, clock);
    throw withChallenge(toWireError(error, logger, { requestId, path }), card);
  });

const openingHead = (path: string, headers: RequestHead['headers'], remoteAddress?: string): RequestHead => ({
  method: 'GET',
  path,
  query: noQuery,
  headers,
  remoteAddress,
});

class Events implements CallEvents {
  readonly #stream: EventSource<EventBatch>;
  readonly #onError: (error: unknown) => A2AError;
  #first: EventBatch | undefined;

  constructor(
    stream: EventSource<EventBatch>,
    first: EventBatch | undefined,
    onError: (error: unknown) => A2AError,
  ) {
    this.#stream = stream;
    this.#first = first;
    this.#onError = onError;
  }

  async next(): Promise<EventBatch | undefined> {
    const first = this.#first;
    this.#first = undefined;
    if (first && first.events.length > 0) return first;
    try {
      return await this.#stream.next();
    } catch (error) {
      throw this.#onError(error);
    }
  }

  close(): void {
    this.#stream.close();
  }
}

/** The header that names a request, in requests and in answers. */
export const REQUEST_ID = 'x-request-id';

/**
 * The id of a request, for lines of the log: the one that the client or a proxy gave it, or a new one. One that is longer
 * than 128 characters, or has others than letters, digits and `-._~:+/=@`, is replaced: it is written into logs.
 */
export function requestIdOf(headers: Readonly<Record<string, string | undefined>>, clock: Clock): string {
  const given = headers[REQUEST_ID];
  return given !== undefined && /^[\w.~:+/=@-]{1,128}$/.test(given) ? given : newId(clock);
}

/** Answers a call in the span of its request, which ends with the answer. A refusal ends it, too. */
export async function inSpan(
  span: RequestSpan,
  decoded: DecodedCall,
  parts: AnsweringParts,
): Promise<Answer> {
  const given = await answerIn(span, decoded, parts);
  if ('result' in given) {
    span.saw(given.result);
    span.end();
    return given;
  }
  const { extensions, stream, first, onError } = given;
  return {
    extensions,
    stream: new TracedEvents(stream, span, first),
    first,
    onError(error) {
      const wire = span.run(() => onError(error));
      span.end(wire);
      return wire;
    },
  };
}

/** Not a part of `inSpan`: a function of it lives as long as a stream, and must not keep the message that opened it. */
const answerIn = (span: RequestSpan, decoded: DecodedCall, parts: AnsweringParts): Promise<Answer> =>
  span.run(() => answerCall(decoded, parts));
