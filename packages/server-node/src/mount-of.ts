import type { Server, Socket } from 'node:net';
import type { HttpExchange } from '@batonjs/server';
import { isLoopbackAddress, namesThisMachine } from '@batonjs/server/adapter';

/** The mount of an agent, by its request. */
export interface Mount {
  /** `http` or `https`. */
  readonly protocol: string;
  /** The header `Host`. */
  readonly host: string | undefined;
  /** Path of the mount without trailing slash. */
  readonly path: string;
  /** Whether `host` is trusted, because a proxy in front of this server sets it. Otherwise clients choose it. */
  readonly trusted: boolean;
}

/**
 * The URL of the mount: with the host that the request names or, if that is not a host, with the address where it arrived.
 * Undefined if the host is not trusted: without `trusted`, it must name this machine, in a request from this machine. The
 * name is checked too, because a proxy on this machine passes on the `Host` of a client elsewhere, and because the name
 * of a web page may lead to this machine.
 */
export function mountOf(
  socket: Socket,
  { protocol, host, path, trusted }: Mount,
): Pick<HttpExchange, 'baseUrl' | 'hasForeignHost'> {
  const named = hostIn(host);
  if (!trusted) {
    const isLocal = isFromThisMachine(socket);
    const hasForeignHost = isLocal && named !== undefined && !namesThisMachine(named);
    if (!isLocal || hasForeignHost) return { baseUrl: undefined, hasForeignHost };
  }
  const { localAddress, localPort } = socket;
  const arrived = localAddress?.includes(':')
    ? `[${localAddress}]:${localPort}`
    : `${localAddress}:${localPort}`;
  return { baseUrl: `${protocol}://${named ?? arrived}${path}` };
}

/**
 * Whether a request comes over loopback. A connection that is closed has no address any more, so that of its listener
 * counts: a page may send a request and leave. Over a Unix socket there never was one.
 */
function isFromThisMachine(socket: Socket & { readonly server?: Server }): boolean {
  const { remoteAddress, server } = socket;
  if (remoteAddress !== undefined) return isLoopbackAddress(remoteAddress);
  const listener = server?.address();
  return typeof listener !== 'string' && mayBeLoopback(listener?.address);
}

const mayBeLoopback = (address = '::'): boolean =>
  address === '0.0.0.0' || address === '::' || isLoopbackAddress(address);

const hostIn = (header = ''): string | undefined =>
  /^[^\s/\\?#@]+$/.test(header) && URL.canParse(`http://${header}`) ? header : undefined;
