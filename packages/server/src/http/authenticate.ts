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
 * Says who sends a request, from its headers and query. `undefined` refuses it as UNAUTHENTICATED; throw an `A2AError`
 * to say more, `PERMISSION_DENIED` for a caller who is known but may not. A caller whose scope is no string, or empty, is
 * refused as INTERNAL_ERROR. Ready-made ones are in `@batonjs/auth`.
 */
export interface Authenticate {
  (
    request: Pick<HttpExchange, 'method' | 'path' | 'query' | 'headers'>,
  ): Caller | undefined | Promise<Caller | undefined>;
  /** How callers prove who they are: for the card, unless it says so itself. Spec: §7.3. */
  readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  /** What of that is needed: any of these. */
  readonly securityRequirements?: readonly SecurityRequirement[];
}
