/** A request as it is written to a connection. */
export interface RawRequest {
  readonly method: string;
  /** Path and query as they are sent. */
  readonly target: string;
  /** In order; a name may stand there more than once. Latin-1. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /** What was done to a valid request, in words. */
  readonly changes: readonly string[];
  /** Whether it may be no HTTP at all: then the HTTP server may refuse it in its own way, or just hang up. */
  readonly isMangled: boolean;
  /** Hang up after so many bytes. */
  readonly cutAt?: number;
}

/** All the bytes of a request; its length is added unless the headers speak of the body themselves. */
export function bytesOf({ method, target, headers, body }: RawRequest): Buffer {
  const framed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
  const length = body === undefined || framed ? [] : [['content-length', String(body.length)] as const];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}
