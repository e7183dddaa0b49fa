import type { Server, Socket } from 'node:net';

/** Where a request says that an agent is mounted. */
export interface Mount {
  /** `http` or `https`. */
  readonly protocol: string;
  /** The header `Host`. */
  readonly host: string | undefined;
  /** Path of the mount without trailing slash. */
  readonly path: string;
  /** Whether `host` is trusted: a proxy in front of this server sets it. Otherwise clients choose it. */
  readonly trusted: boolean;
}

/**
 * Where the request says the agent is, or where it arrived if what it says is no host. Undefined if that may not be
 * believed: without `trusted`, only requests from this machine that also name this machine are. The name matters too,
 * because a proxy on this machine passes on what a client elsewhere wrote.
 */
export function mountUrlOf(socket: Socket, { protocol, host, path, trusted }: Mount): string | undefined {
  const { remoteAddress, localAddress, localPort } = socket;
  const named = hostIn(host);
  if (!trusted) {
    if (!isLoopback(remoteAddress) && !isGone(socket)) return undefined;
    if (named !== undefined && !isLoopbackName(new URL(`http://${named}`).hostname)) return undefined;
  }
  const arrived = localAddress?.includes(':')
    ? `[${localAddress}]:${localPort}`
    : `${localAddress}:${localPort}`;
  return `${protocol}://${named ?? arrived}${path}`;
}

/** A closed connection has no address any more, and no client to answer. One over a Unix socket never had one. */
function isGone(socket: Socket): boolean {
  const { server } = socket as Socket & { readonly server?: Server };
  return socket.remoteAddress === undefined && typeof server?.address() !== 'string';
}

const hostIn = (header = ''): string | undefined =>
  /^[^\s/\\?#@]+$/.test(header) && URL.canParse(`http://${header}`) ? header : undefined;

const isLoopback = (address = '') => /^(::1$|127\.|::ffff:127\.)/.test(address);

const isLoopbackName = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname) || hostname.endsWith('.localhost');
