import { type RequestSpan, TracedEvents } from '../../base/hooks/telemetry.ts';
import { type Answer, type AnsweringParts, answerCall, type DecodedCall } from './answer-call.ts';

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
