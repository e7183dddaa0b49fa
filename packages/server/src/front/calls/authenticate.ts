import type { SecurityRequirement, SecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Caller } from '../../agent/caller.ts';

/** The part of a request that tells who sent it. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** Below the mount, without query, still percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The network address of the sender, if the adapter knows it: a client that has left already has none. Behind a proxy
   * it is that of the proxy, unless the framework was told to trust it.
   */
  readonly remoteAddress?: string | undefined;
}

/**
 * Finds out the caller of a request from its headers and query. `undefined` refuses it as UNAUTHENTICATED; throw an
 * `A2AError` for another refusal, such as `PERMISSION_DENIED` for a known caller without the right. A caller whose
 * scope is no string, or empty, is refused as INTERNAL_ERROR. Ready-made ones are in `@batonjs/auth`.
 */
export interface Authenticate {
  (request: RequestHead): Caller | undefined | Promise<Caller | undefined>;
  /** The security schemes of the card, unless the card has its own. Spec: §7.3. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /**
   * The security requirements of the card: callers meet any of them. The server checks that callers with `scopes` have
   * those that it lists.
   */
  readonly securityRequirements?: readonly SecurityRequirement[];
}

/**
 * The caller of a request; undefined if the server asks for none. Rejects with `UNAUTHENTICATED`, with what
 * `authenticate` throws, and with a `TypeError` for a caller without a scope: such callers would share their tasks.
 */
export async function callerOf(
  request: RequestHead,
  authenticate: Authenticate | undefined,
): Promise<Caller | undefined> {
  if (!authenticate) return undefined;
  const caller = await authenticate(request);
  if (!caller) throw new A2AError('UNAUTHENTICATED');
  const { scope } = caller;
  if (typeof scope === 'string' && scope !== '') return caller;
  throw new TypeError('`authenticate` must return a caller whose `scope` is a string that is not empty');
}
