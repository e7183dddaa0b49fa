import type { StreamResponse } from '@batonjs/protocol';

/** One event of a stream with its SSE id. */
export interface Seen {
  readonly id: string | undefined;
  readonly event: StreamResponse;
}

/** A road to one server. Its calls reject with `Broken` or `Refused`. */
export interface Wire {
  call(method: string, params: object): Promise<unknown>;
  stream(method: string, params: object, lastEventId?: string): AsyncIterable<Seen>;
}

/** The connection broke, or nothing came for too long: what the server did is unknown. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

/** The server answered with an error. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(`${reason}: ${message}`);
    this.reason = reason;
  }
}

/** Whether the same request may succeed elsewhere or later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Broken ||
  (error instanceof Refused && ['UNAVAILABLE', 'RESOURCE_EXHAUSTED'].includes(error.reason));

/** The result in a JSON-RPC reply. Throws `Refused` for an error. */
export function resultOf(reply: unknown): unknown {
  const { result, error } = reply as {
    result?: unknown;
    error?: { message: string; data?: readonly { reason?: string }[] };
  };
  if (error) throw new Refused(error.data?.[0]?.reason ?? 'UNKNOWN', error.message);
  return result;
}
