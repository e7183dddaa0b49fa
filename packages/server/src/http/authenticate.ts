import type { SecurityRequirement, SecurityScheme } from '@batonjs/protocol';
import type { Caller } from '../agent/caller.ts';
import type { HttpExchange } from './http-exchange.ts';

/**
 * The caller as `authenticate` returned it. Throws `TypeError` unless its scope is a string that is not empty: callers
 * without one would share their tasks.
 */
export function checkCaller(caller: Caller): Caller {
  const { scope } = caller;
  if (typeof scope === 'string' && scope !== '') return caller;
  throw new TypeError('`authenticate` must return a caller whose `scope` is a string that is not empty');
}

/**
 * Finds out the caller of a request from its headers and query. `undefined` refuses it as UNAUTHENTICATED; throw an
 * `A2AError` for another refusal, such as `PERMISSION_DENIED` for a known caller without the right. A caller whose
 * scope is no string, or empty, is refused as INTERNAL_ERROR. Ready-made ones are in `@batonjs/auth`.
 */
export interface Authenticate {
  (
    request: Pick<HttpExchange, 'method' | 'path' | 'query' | 'headers'>,
  ): Caller | undefined | Promise<Caller | undefined>;
  /** The security schemes of the card, unless the card has its own. Spec: §7.3. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** The security requirements of the card: callers meet any of them. */
  readonly securityRequirements?: readonly SecurityRequirement[];
}
