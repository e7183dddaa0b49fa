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
