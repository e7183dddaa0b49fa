import type { Server, Socket } from 'node:net';

/** Where a request says that an agent is mounted. */
export interface Mount {
  /** `http` or `https`. */
  readonly protocol: string;
  /** The header `Host`. */
  readonly host: string | undefined;
  /** Path of the mount without trailing slash. */
  readonly path: string;
  /** Whether what is said may be believed of clients on other machines: a proxy in front of this server says it. */
  readonly trusted: boolean;
}

/** Where the request says the agent is, if it may be believed; where it arrived, if what it says is no host. */
export function mountUrlOf(socket: Socket, { protocol, host, path, trusted }: Mount): string | undefined {
  const { remoteAddress, localAddress, localPort } = socket;
  if (!trusted && !isLoopback(remoteAddress) && !isGone(socket)) return undefined;
  const arrived = localAddress?.includes(':')
    ? `[${localAddress}]:${localPort}`
    : `${localAddress}:${localPort}`;
  return `${protocol}://${hostIn(host) ?? arrived}${path}`;
}

/** A connection that is gone has no address any more, and nobody waits for the answer; one over a Unix socket never had one. */
function isGone(socket: Socket): boolean {
  const { server } = socket as Socket & { readonly server?: Server };
  return socket.remoteAddress === undefined && typeof server?.address() !== 'string';
}

const hostIn = (header = ''): string | undefined =>
  /^[^\s/\\?#@]+$/.test(header) && URL.canParse(`http://${header}`) ? header : undefined;

const isLoopback = (address = '') => /^(::1$|127\.|::ffff:127\.)/.test(address);
