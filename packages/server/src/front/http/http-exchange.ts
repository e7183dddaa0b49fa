import type { HttpReply } from '@batonjs/bindings';
import type { A2AError } from '@batonjs/protocol/errors';
import type { RequestHead } from '../calls/authenticate.ts';

/**
 * The body of a request. `longerThan`: the framework stopped reading it after so many bytes. `encoding`: it is still
 * compressed in that way.
 */
export type Body =
  | { readonly bytes: Uint8Array }
  | { readonly value: unknown }
  | { readonly longerThan: number }
  | { readonly encoding: string };

/** A request as an adapter passes it: plain values, and a body that is read only when it is needed. */
export interface HttpExchange extends RequestHead {
  /**
   * The body: its bytes, or the value a framework parsed already. Reads no further than `limit` bytes; undefined if
   * there are more. Rejects if the body ends too early. An adapter whose requests may have no declared length awaits
   * `ask` before it reads more than 64 kB, and rejects if `ask` does: this caller may not send so much.
   */
  readonly readBody: (limit: number, ask: () => Promise<unknown>) => Promise<Body | undefined>;
  /**
   * The body as it arrives, of any length, once, and instead of `readBody`. Rejects if it ends too early. An adapter that
   * has none takes no uploads.
   */
  readonly bytes?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Absolute URL of the mount without trailing slash, if the request can be trusted to say it. */
  readonly baseUrl?: string | undefined;
  /**
   * Whether the request came over loopback under a host that is not this machine's, and that no trusted proxy set. A page
   * in a browser on this machine may have sent it, whose name leads to this machine (DNS rebinding). It is refused where
   * any caller is served, unless `publicUrl` has this host.
   */
  readonly hasForeignHost?: boolean | undefined;
  /**
   * The same, from an adapter that does not see the connection: whether the host is not this machine's. It is refused where
   * any caller is served, unless `publicUrl` has a host elsewhere: a caller of that needs no page.
   */
  readonly mayHaveForeignHost?: boolean | undefined;
  /** The adapter does not know where the agent is mounted, so that `path` may begin with the path of the mount. */
  readonly isMountUnknown?: boolean | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /**
   * The error of a middleware that refused the request, for its rate perhaps. It is answered in the request's binding.
   */
  readonly refusal?: A2AError | undefined;
}

/** Answers a request. Never rejects. */
export type Handle = (exchange: HttpExchange) => Promise<HttpReply>;
