import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

/** A request, sent as given: only members that HTTP needs are added. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | string[]>;
  /** Sent with its length, unless `chunked`. */
  readonly body?: string | Uint8Array | undefined;
  readonly chunked?: boolean;
}

/** What came back. */
export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies with matchers
  readonly json: any;
}

/** One exchange over a connection of its own. Rejects if there is no whole answer. */
export function exchange(origin: string, { method = 'GET', path = '/', headers = {}, body, chunked }: Sent) {
  return new Promise<Received>((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const length = body === undefined || chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const req = request({ hostname, port, method, path, headers: { ...length, ...headers }, agent: false });
    let answered = false;
    req.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: jsonOf(text) });
      });
    });
    // An answer may come, and the connection end, before everything is sent.
    req.on('error', (error) => void (answered || reject(error)));
    if (body !== undefined && chunked) for (const piece of pieces(Buffer.from(body))) req.write(piece);
    req.end(chunked ? undefined : body);
  });
}

function* pieces(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += 65_536) yield body.subarray(start, start + 65_536);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes bytes to a connection as they are, and resolves to all that comes back until the server closes it. */
export function converse(origin: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname, () => socket.write(text, 'latin1'));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

/** Sends the first 20 bytes of a JSON body, and breaks the connection when the system has taken them. */
export async function abandon(origin: string, path: string, body: string): Promise<void> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    'a2a-version: 1.0',
    `content-length: ${body.length}`,
  ];
  await new Promise<void>((resolve) =>
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 20)}`, () => resolve()),
  );
  socket.resetAndDestroy();
}
