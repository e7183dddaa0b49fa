import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallTarget } from '@batonjs/bindings';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { WEBSOCKET_BINDING } from '../wire/binding-name.ts';
import type { webSocketOptions } from './web-socket-options.ts';

/** The interface in the card of a server, from when its address is known. */
export class CardEntry {
  /** The address; undefined if it is not known, or not yet. */
  url: string | undefined;
  readonly #server: CallTarget;
  readonly #listener: Server;
  readonly #aliases: readonly string[];
  readonly #onListening: () => void;
  #unlist: (() => void)[] = [];

  constructor(
    server: CallTarget,
    listener: Server,
    path: string,
    { url, aliases }: Pick<typeof webSocketOptions, 'url' | 'aliases'>,
  ) {
    this.#server = server;
    this.#listener = listener;
    this.#aliases = aliases;
    this.#onListening = () => this.#list(url ?? addressOf(listener, path));
    if (url !== undefined || listener.listening) this.#onListening();
    else listener.once('listening', this.#onListening);
  }

  remove(): void {
    this.#listener.off('listening', this.#onListening);
    for (const unlist of this.#unlist.splice(0)) unlist();
  }

  #list(url: string | undefined): void {
    this.url = url;
    if (url === undefined) return;
    this.#unlist = [WEBSOCKET_BINDING, ...this.#aliases].map((protocolBinding) =>
      this.#server.addInterface({ url, protocolBinding, protocolVersion: PROTOCOL_VERSION }),
    );
  }
}

/** The address of a listener; undefined for one that listens on all addresses, or on none. */
function addressOf(listener: Server, path: string): string | undefined {
  const at = listener.address() as AddressInfo | string | null;
  if (at === null || typeof at === 'string') return undefined;
  const { address, family, port } = at;
  if (address === '0.0.0.0' || address === '::') return undefined;
  const scheme = 'setSecureContext' in listener ? 'wss' : 'ws';
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}${path}`;
}
