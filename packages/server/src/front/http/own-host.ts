import { hostnameOf, isForeignHost } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { Handle } from './http-exchange.ts';

/** Who is served, and under which name. */
export interface ServedHost {
  /** Whether callers show who they are: a page has no credentials for a name that leads to this machine. */
  readonly hasAuthenticate: boolean;
  readonly publicUrl: string | undefined;
}

/**
 * Refuses requests under a name that may be that of a web page which leads to this machine (DNS rebinding), if any caller
 * is served.
 */
export function withOwnHost(handle: Handle, { hasAuthenticate, publicUrl }: ServedHost): Handle {
  if (hasAuthenticate) return handle;
  const own = publicUrl === undefined ? [] : [hostnameOf(new URL(publicUrl).host) ?? ''];
  return (exchange) => {
    const { hasForeignHost: isLoopback, mayHaveForeignHost, headers } = exchange;
    if (isLoopback === undefined && !mayHaveForeignHost) return handle(exchange);
    if (!isForeignHost(headers.host ?? '', { own, isLoopback })) return handle(exchange);
    const why =
      'The header `Host` is not a name of this machine: for other names, set `publicUrl` or `authenticate`';
    return handle({ ...exchange, refusal: new A2AError('PERMISSION_DENIED', why) });
  };
}
