import type { Server, Socket } from 'node:net';

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
 * name is checked too, because a proxy on this machine passes on the `Host` of a client elsewhere.
 */
export function mountUrlOf(socket: Socket, { protocol, host, path, trusted }: Mount): string | undefined {
  const { remoteAddress, localAddress, localPort } = socket;
  if (!trusted && !isLoopback(remoteAddress) && !isGone(socket)) return undefined;
  const named = hostIn(host);
  if (!trusted && named !== undefined && !namesLoopback(named)) return undefined;
  const arrived = localAddress?.includes(':')
    ? `[${localAddress}]:${localPort}`
    : `${localAddress}:${localPort}`;
  return `${protocol}://${named ?? arrived}${path}`;
}

/** Whether the connection is closed: it then has no address, and no client waits. Over a Unix socket it never had one. */
function isGone(socket: Socket): boolean {
  const { server } = socket as Socket & { readonly server?: Server };
  return socket.remoteAddress === undefined && typeof server?.address() !== 'string';
}

const hostIn = (header = ''): string | undefined =>
  /^[^\s/\\?#@]+$/.test(header) && URL.canParse(`http://${header}`) ? header : undefined;

const isLoopback = (address = '') => /^(::1$|127\.|::ffff:127\.)/.test(address);

/** Whether a valid host with or without a port is this machine. Nearly all are written in the way that needs no parser. */
const namesLoopback = (host: string): boolean =>
  isLoopbackName(host.replace(/:\d{1,5}$/, '')) || isLoopbackName(new URL(`http://${host}`).hostname);

const isLoopbackName = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname) || hostname.endsWith('.localhost');
