/** An open WebSocket, of Node.js or of a browser. */
export interface Socket {
  /** Whether neither side has begun to close it. */
  readonly isOpen: boolean;
  send(text: string): void;
  close(code: number): void;
  /** Breaks the connection off. In a browser the same as `close`. */
  terminate(): void;
  /** Whether the process stays alive for the connection. Means nothing in a browser. */
  hold(isHeld: boolean): void;
}

/** Certificates in PEM: `ca` of servers, instead of those of Node.js; `cert` and `key` of this client, for mutual TLS. */
export interface SocketTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** What a WebSocket is opened with. */
export interface SocketRequest {
  /** `ws:` or `wss:`. */
  readonly url: string;
  /** The headers of the upgrade. A browser cannot send any. */
  readonly headers: Readonly<Record<string, string>>;
  /** The most bytes of a message; the connection breaks at a longer one. Browsers take any. */
  readonly maxBytes: number;
  /** Browsers have certificates of their own. */
  readonly tls: SocketTls | undefined;
  /** How long the upgrade may take, in milliseconds. */
  readonly openMs: number;
  /** Called for every message; `bytes` is its size. In a browser that of its text, at least. */
  readonly onText: (text: string, bytes: number) => void;
  /** Called once, when an open connection is closed. */
  readonly onClose: (code: number) => void;
}

/**
 * Opens a WebSocket of the sub-protocol. Rejects with an `A2AError` if the agent refuses, and with any other error if it is
 * out of reach.
 */
export type OpenSocket = (request: SocketRequest) => Promise<Socket>;
