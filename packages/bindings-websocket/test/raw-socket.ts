import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
export type Frame = any;

/** A bare WebSocket, which sends and shows everything. */
export interface RawSocket {
  readonly ws: WebSocket;
  readonly frames: readonly Frame[];
  /** Sends text or bytes as they are, anything else as JSON. */
  send(frame: unknown): void;
  /** Sends a request of A2A 1.0 with an id of its own. Returns the id. */
  request(method: string, params?: unknown, more?: object): number;
  /** The first frame that was not taken yet and has the id, or for which the function is true. */
  next(wanted?: unknown): Promise<Frame>;
  /** The frames of a stream up to its end or its error. */
  all(id: unknown): Promise<Frame[]>;
  /** Resolves to the close code. */
  readonly closed: Promise<number>;
  /** Resolves to the close code and the reason: `1001 Idle`. */
  readonly ended: Promise<string>;
}

/** The status, headers and body of an upgrade that was refused. */
export class Refused extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Frame;

  constructor(status: number, headers: Refused['headers'], body: string) {
    super(`Status ${status}`);
    this.status = status;
    this.headers = headers;
    this.body = body.startsWith('{') ? JSON.parse(body) : body;
  }
}

/** Connects. Rejects with `Refused`. */
export async function rawSocket(
  url: string,
  options: ClientOptions = {},
  protocols: readonly string[] = ['a2a.v1'],
): Promise<RawSocket> {
  const ws = new WebSocket(url, [...protocols], options);
  onTestFinished(() => ws.terminate());
  const frames: Frame[] = [];
  const unread: Frame[] = [];
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  ws.on('message', (data) => {
    const frame = JSON.parse(String(data));
    frames.push(frame);
    unread.push(frame);
    change();
  });
  const ended = once(ws, 'close').then(([code, reason]) => `${code} ${reason}`.trim());
  const closed = ended.then((end) => Number.parseInt(end, 10));
  closed.catch(() => {});
  let isClosed = false;
  ws.on('close', () => {
    isClosed = true;
    change();
  });
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve).once('error', reject);
    ws.once('unexpected-response', async (_, response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      reject(new Refused(response.statusCode!, response.headers, body));
    });
  });
  ws.on('error', () => {});
  let lastId = 0;
  const socket: RawSocket = {
    ws,
    frames,
    closed,
    ended,
    send: (frame) =>
      ws.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame)),
    request(method, params = {}, more = {}) {
      lastId += 1;
      const serviceParams = { 'a2a-version': '1.0' };
      socket.send({ jsonrpc: '2.0', id: lastId, method, params, serviceParams, ...more });
      return lastId;
    },
    async next(wanted = () => true) {
      const matches = typeof wanted === 'function' ? wanted : (frame: Frame) => frame.id === wanted;
      for (;;) {
        const at = unread.findIndex((frame) => matches(frame));
        if (at >= 0) return unread.splice(at, 1)[0];
        if (isClosed) throw new Error(`Closed; ${JSON.stringify(frames)}`);
        await changed.promise;
      }
    },
    async all(id) {
      const found: Frame[] = [];
      for (;;) {
        const frame = await socket.next(id);
        found.push(frame);
        if (frame.streamEnd || frame.error) return found;
      }
    },
  };
  return socket;
}

/** The params of a message. */
export const message = (said: string, more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: said }], ...more },
});
