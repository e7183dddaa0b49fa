import { chunksOf, readText } from '@batonjs/protocol/json';
import { ClientError } from '../client-error.ts';
import { answered, ofNetwork } from './call-deadline.ts';

/** Cancels the body of a response that the client does not read. */
export const discard = (response: Response): void => {
  response.body?.cancel().catch(() => {});
};

/** Reads a whole body as text. Rejects with `RESPONSE_TOO_LARGE` as soon as it exceeds `maxBytes`. */
export async function readAnswer({ body }: Response, maxBytes: number): Promise<string> {
  const text = await answered(readText(chunksOf(body), maxBytes));
  if (text === undefined) throw tooLarge(maxBytes);
  return text;
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
  let pending = 0;
  async function* limited() {
    try {
      for await (const chunk of chunksOf(body, signal)) {
        onBytes();
        pending += chunk.length;
        yield chunk;
        if (pending > maxBytes) throw tooLarge(maxBytes);
      }
    } catch (error) {
      throw ofNetwork(error);
    }
  }
  return {
    chunks: limited(),
    endEvent(data: string) {
      if (data.length > maxBytes) throw tooLarge(maxBytes);
      pending = 0;
    },
  };
}

/** The error for a response beyond the limit. */
export const tooLarge = (maxBytes: number) =>
  new ClientError('RESPONSE_TOO_LARGE', `The answer has more than ${maxBytes} bytes`);
