import { ClientError } from '../client-error.ts';

/** Cancels the body of a response that the client does not read. */
export const discard = (response: Response): void => {
  response.body?.cancel().catch(() => {});
};

/**
 * A reader that finds nothing more once the call has ended: a `fetch` of the caller may ignore the signal after it has
 * answered.
 */
function readerUntil(signal: AbortSignal, body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  const stop = () => void reader.cancel(signal.reason).catch(() => {});
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return reader;
}

/**
 * Reads a whole body as text. Rejects with `RESPONSE_TOO_LARGE` as soon as it exceeds `maxBytes`, and with the reason of
 * `signal` if it aborts.
 */
export async function readText(
  { body, headers }: Response,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  if (!body) return '';
  const decoder = new TextDecoder();
  const reader = readerUntil(signal, body);
  let text = '';
  let size = 0;
  try {
    if (Number(headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes);
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
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
 * Passes the bytes of an event stream through and calls `onBytes` for each piece. The stream ends when `signal` aborts,
 * and fails with `RESPONSE_TOO_LARGE` when one event exceeds `maxBytes`. Call `endEvent` with the data of every complete
 * event.
 */
export function limitEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  maxBytes: number,
  onBytes: () => void,
) {
  const reader = readerUntil(signal, body);
  let pending = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending > maxBytes) throw tooLarge(maxBytes);
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onBytes();
        pending += value.length;
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
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
