import { ClientError } from '../client-error.ts';
import { answered } from './call-deadline.ts';

/** Cancels the body of a response that the client does not read. */
export const discard = (response: Response): void => {
  response.body?.cancel().catch(() => {});
};

/** Reads a whole body as text. Rejects with `RESPONSE_TOO_LARGE` as soon as it exceeds `maxBytes`. */
export async function readText({ body, headers }: Response, maxBytes: number): Promise<string> {
  if (!body) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  let size = 0;
  try {
    if (Number(headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes);
    for (;;) {
      const { done, value } = await answered(reader.read());
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Passes the bytes of an event stream through and calls `onBytes` for each piece. The stream ends when `signal` aborts: a
 * `fetch` of the caller may ignore it after it has answered. It fails with `RESPONSE_TOO_LARGE` when one event exceeds
 * `maxBytes`. Call `endEvent` with the data of every complete event.
 */
export function limitEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  maxBytes: number,
  onBytes: () => void,
) {
  const reader = body.getReader();
  signal.addEventListener('abort', () => reader.cancel().catch(() => {}));
  let pending = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending > maxBytes) throw tooLarge(maxBytes);
        const { done, value } = await answered(reader.read());
        if (done) return controller.close();
        onBytes();
        pending += value.length;
        controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    // Without read-ahead, so that all pending bytes belong to the event that is being decoded.
    { highWaterMark: 0 },
  );
  return {
    stream,
    endEvent(data: string) {
      if (data.length > maxBytes) throw tooLarge(maxBytes);
      pending = 0;
    },
  };
}

/** The error for a response beyond the limit. */
export const tooLarge = (maxBytes: number) =>
  new ClientError('RESPONSE_TOO_LARGE', `The answer has more than ${maxBytes} bytes`);
