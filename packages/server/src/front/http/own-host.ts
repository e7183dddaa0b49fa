import { hostnameOf, namesThisMachine } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { Handle } from './http-exchange.ts';

/** Who is served, and under which name. */
export interface OwnHost {
  /** Whether callers show who they are: a page has no credentials for a name that leads to this machine. */
  readonly hasAuthenticate: boolean;
  readonly publicUrl: string | undefined;
}

/**
 * Refuses requests that came over loopback under a name that is not this machine's, if any caller is served: a web page
 * whose name leads to this machine may have sent them (DNS rebinding). Where the connection is not known, such a name is
 * refused unless `publicUrl` says that the agent is elsewhere, where it may have several names.
 */
export function withOwnHost(handle: Handle, { hasAuthenticate, publicUrl }: OwnHost): Handle {
  if (hasAuthenticate) return handle;
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  const isElsewhere = own !== undefined && !namesThisMachine(own);
  return (exchange) => {
    const isForeign = exchange.hasForeignHost || (exchange.mayHaveForeignHost && !isElsewhere);
    if (!isForeign) return handle(exchange);
    if (own !== undefined && hostnameOf(exchange.headers.host ?? '') === own) return handle(exchange);
    const why =
      'The header `Host` is not a name of this machine: for other names, set `publicUrl` or `authenticate`';
    return handle({ ...exchange, refusal: new A2AError('PERMISSION_DENIED', why) });
  };
}
