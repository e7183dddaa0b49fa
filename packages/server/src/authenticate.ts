import type { Caller } from './call-context.ts';
import type { HttpExchange } from './http-exchange.ts';

/**
 * Says who sends a request, from its headers and query. `undefined` refuses it as UNAUTHENTICATED; throw an `A2AError`
 * to say more, `PERMISSION_DENIED` for a caller who is known but may not.
 */
export type Authenticate = (
  request: Pick<HttpExchange, 'method' | 'path' | 'query' | 'headers'>,
) => Caller | undefined | Promise<Caller | undefined>;
