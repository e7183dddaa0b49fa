import { A2AError } from '@batonjs/protocol/errors';
import { chunksOf, readText } from '@batonjs/protocol/json';
import { noAnswer } from '#http';
import { ClientError, type ClientErrorCode } from '../client-error.ts';
import type { CallOptions, Settings } from '../options/connect-options.ts';

/** The deadline of one call, and the signal that aborts everything the call started. */
export interface CallDeadline {
  readonly signal: AbortSignal;
  /** The URL of the current request. Error messages name it. */
  address: string;
  /** Ends the call: clears the deadline and aborts the signal. */
  close(): void;
  /** Removes the deadline. The caller's signal still applies. */
  lift(): void;
  /** Replaces the deadline. When it passes, the call fails with `code` and a message that begins with `problem`. */
  limit(ms: number | undefined, code: ClientErrorCode, problem: string): void;
  /**
   * The error that the caller gets for a failure: the deadline's or the caller's own if one of them ended the call,
   * `NETWORK` for what the network threw, and any other unchanged.
   */
  classify(error: unknown): unknown;
}

/** Has what the network threw. */
class NoAnswer {
  readonly cause: unknown;
  constructor(cause: unknown) {
    this.cause = cause;
  }
}

/** An error of the network, so that `classify` can tell it from one of this package or its user. */
export const ofNetwork = (error: unknown): unknown =>
  A2AError.is(error) || ClientError.is(error) ? error : new NoAnswer(error);

/** What the network answers, with its errors marked. */
export const answered = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error: unknown) => {
    throw ofNetwork(error);
  });

export function startDeadline(
  { signal, timeoutMs }: CallOptions,
  { clock, timeoutMs: usual }: Settings,
  address: string,
): CallDeadline {
  const whole = new AbortController();
  let timer = new AbortController();
  let failure: ClientError | undefined;
  const end = (error: ClientError) => {
    failure ??= error;
    whole.abort(failure);
  };
  const abort = () => end(new ClientError('ABORTED', 'The call was aborted', signal?.reason));
  const lift = () => timer.abort();
  const limit = (ms: number | undefined, code: ClientErrorCode, problem: string) => {
    lift();
    // A piece of the body may arrive after the end of the call.
    if (!ms || ms === Number.POSITIVE_INFINITY || whole.signal.aborted) return;
    timer = new AbortController();
    const { signal: lifted } = timer;
    clock.sleep(ms, lifted).then(() => {
      if (!lifted.aborted)
        end(new ClientError(code, `${problem} from ${nameOf(deadline.address)} within ${ms} ms`));
    });
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const deadline: CallDeadline = {
    signal: whole.signal,
    address,
    lift,
    limit,
    close() {
      lift();
      signal?.removeEventListener('abort', abort);
      whole.abort();
    },
    classify: (error) =>
      failure ??
      (error instanceof NoAnswer
        ? new ClientError(...noAnswer(nameOf(deadline.address), error.cause), error.cause)
        : error),
  };
  limit(timeoutMs ?? usual, 'TIMEOUT', 'No answer');
  return deadline;
}

/** The address without query and fragment, which may contain a secret. */
function nameOf(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

/** Cancels the body of a response that the client does not read. */
export const discard = (response: Response): void => {
  response.body?.cancel().catch(() => {});
};

/** Reads a whole reply to a request to `asked`. Rejects with `RESPONSE_TOO_LARGE` as soon as its body exceeds `maxBytes`. */
export async function readReply(response: Response, maxBytes: number, asked: string) {
  const { status, headers, url } = response;
  const body = await answered(readText(chunksOf(response.body), maxBytes));
  if (body === undefined) throw tooLarge(maxBytes);
  return { status, headers, body, url: url || asked };
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
