import { type RequestSpan, TracedEvents } from '../../base/hooks/telemetry.ts';
import type { Answer } from './perform-call.ts';

/** Answers a call in the span of its request, which ends with the answer. What `answer` rejects with ends it, too. */
export async function inSpan(span: RequestSpan, answer: () => Promise<Answer>): Promise<Answer> {
  const given = await span.run(answer);
  if ('result' in given) {
    span.saw(given.result);
    span.end();
    return given;
  }
  const { stream, first, onError } = given;
  return {
    stream: new TracedEvents(stream, span, first),
    first,
    onError(error) {
      const wire = span.run(() => onError(error));
      span.end(wire);
      return wire;
    },
  };
}
