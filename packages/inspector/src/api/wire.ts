/** One request and its response, as they were sent. */
export interface Exchange {
  readonly number: number;
  /** When the request began: ISO 8601. */
  readonly at: string;
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`; absent for the card. */
  readonly binding?: string;
  /** The operation, as far as the request says. */
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: string;
  /** The HTTP status, or the word of gRPC; absent until the answer begins. */
  readonly status?: string;
  readonly isError: boolean;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
  /** The bodies are longer than the inspector keeps. */
  readonly isCut: boolean;
  /** Milliseconds until the answer began, and until it was complete. */
  readonly firstMs?: number;
  readonly endMs?: number;
  /** A line for the shell that sends the same request. Credentials are left out. */
  readonly shell: string;
}

/** A request of any client to a server of this process, and its response. */
export interface ClientExchange extends Exchange {
  /** Id of the agent. */
  readonly agent: string;
  /** The version of the protocol: `Major.Minor`. Absent for the card. */
  readonly version?: string;
  /** The scope that `authenticate` gave; absent while the caller is not known, and for refused ones. */
  readonly caller?: string;
}

/** A line of a feed of requests. */
export type ExchangeUpdate<Kept extends Exchange = Exchange> =
  /** Sent first: by which process requests are kept since when, and how many at most. `bytes`: null for no bound. */
  | {
      readonly type: 'open';
      readonly pid: number;
      readonly since: string;
      readonly exchanges: number;
      readonly bytes: number | null;
    }
  | { readonly type: 'exchanges'; readonly exchanges: readonly Kept[] };
