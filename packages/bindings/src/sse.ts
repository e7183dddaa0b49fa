import { EVENT_STREAM } from '@batonjs/protocol/headers';

/** One server-sent event. */
export interface SseEvent {
  readonly data: string;
  /** The position to resume after. When reading: the last one that the stream named. Has no line breaks. */
  readonly id?: string | undefined;
  /** The name of the event. A2A 1.0 uses none. */
  readonly event?: string | undefined;
}

/** The headers of a stream. They keep proxies from caching or buffering its events. Spec: §11.7. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': EVENT_STREAM,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** A comment, which readers skip. Sent from time to time, it keeps an idle connection open. */
export const sseHeartbeat = ': ping\n\n';

/** The text of an event. */
export function encodeSse({ data, id, event }: SseEvent): string {
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data;
  return `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${lines}\n\n`;
}

/**
 * Reads the events of a stream. Leaving the loop cancels the stream. An event without its end is dropped.
 * Spec: WHATWG HTML §9.2.6.
 */
export async function* decodeSse(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent, void, void> {
  const decoder = new TextDecoder();
  const parse = sseParser();
  for await (const chunk of chunks) yield* parse(decoder.decode(chunk, { stream: true }));
}

/** A function that takes a stream's text piece by piece and returns the events that each piece completes. */
function sseParser(): (text: string) => SseEvent[] {
  let rest = '';
  let afterReturn = false;
  let id: string | undefined;
  let event: string | undefined;
  let data: string[] = [];

  return (text) => {
    const events: SseEvent[] = [];
    // A CR ends its line at once. Its LF may come with the next piece, and then ends no second line.
    const lines = (afterReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\r|\n/);
    if (text !== '') afterReturn = text.endsWith('\r');
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    for (const line of lines) {
      const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
      if (line === '') {
        if (data.length > 0) events.push({ data: data.join('\n'), id, event });
        data = [];
        event = undefined;
      } else if (field === 'data') data.push(value);
      else if (field === 'event') event = value || undefined;
      else if (field === 'id' && !value.includes('\0')) id = value;
    }
    return events;
  };
}
