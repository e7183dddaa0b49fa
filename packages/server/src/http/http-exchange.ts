import type { HttpReply } from '@batonjs/bindings';
import type { A2AError } from '@batonjs/protocol/errors';

/**
 * What `readBody` reads; `longerThan`: who read it before stopped after so many bytes; `encoding`: it is compressed that
 * way, and nobody unpacked it.
 */
export type Body =
  | { readonly bytes: Uint8Array }
  | { readonly value: unknown }
  | { readonly longerThan: number }
  | { readonly encoding: string };

/** A request as a skin hands it over: plain values, and a body that is read only when it is needed. */
export interface HttpExchange {
  /** Upper case. */
  readonly method: string;
  /** Below the mount, without query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The body: its bytes, or the value a framework parsed already. Reads no further than `limit` bytes; undefined if there
   * are more. Rejects if the body does not come to its end. A skin for requests that need not say how long they are awaits
   * `ask` before it reads more than 64 kB, and rejects if that does: the caller must not send so much.
   */
  readonly readBody: (limit: number, ask: () => Promise<unknown>) => Promise<Body | undefined>;
  /** Absolute URL of the mount without trailing slash, if the request may be believed to say it. */
  readonly baseUrl?: string | undefined;
  /** The skin does not know where the agent is mounted, so that `path` may begin with the path of the mount. */
  readonly isMountUnknown?: boolean | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Somebody before refused the request, for its rate perhaps: it is answered so, in the words of its binding. */
  readonly refusal?: A2AError | undefined;
}

/** Answers a request. Never rejects. */
export type Handle = (exchange: HttpExchange) => Promise<HttpReply>;
