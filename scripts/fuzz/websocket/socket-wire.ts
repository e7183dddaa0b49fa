import { connect } from 'node:net';
import { bytesOf, type SocketRequest, textFrame } from './request.ts';

/** What became of a message. */
export type SocketOutcome =
  | {
      readonly kind: 'open' | 'closed';
      /** The messages of the server, each the JSON that it must be, up to the answer to the probe. */
      readonly texts: readonly string[];
      /** The close code; 1006 if there was none. Undefined if the connection is open. */
      readonly code: number | undefined;
    }
  /** The upgrade was refused. */
  | { readonly kind: 'refused'; readonly status: number; readonly body: string }
  /** The client hung up, as planned. */
  | { readonly kind: 'left' }
  | { readonly kind: 'hung' };

/** The id of the frame after each message: its answer shows that the connection goes on. */
export const PROBE = 'probe!';

const key = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Sends a message and a probe on a connection of their own. Resolves when both are answered, or the connection is closed. */
export function sendOnSocket(port: number, request: SocketRequest, hungMs: number): Promise<SocketOutcome> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const texts: string[] = [];
    let received: Buffer = Buffer.alloc(0);
    let isUpgraded = false;
    const settle = (outcome: SocketOutcome) => {
      clearTimeout(hung);
      socket.removeAllListeners('data').removeAllListeners('close');
      // Node.js cannot reset a connection that was ended, and would leave it open.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
      resolve(outcome);
    };
    const hung = setTimeout(() => settle({ kind: 'hung' }), hungMs);
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!isUpgraded) settle(refusalIn(received));
      else settle({ kind: 'closed', texts, code: 1006 });
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (!isUpgraded) {
        const end = received.indexOf('\r\n\r\n');
        if (end < 0 || !received.subarray(0, 12).equals(Buffer.from('HTTP/1.1 101'))) return;
        isUpgraded = true;
        received = received.subarray(end + 4);
        write();
      }
      for (let frame = takeFrame(); frame; frame = takeFrame()) {
        if (frame.opcode === 8)
          return settle({
            kind: 'closed',
            texts,
            code: frame.payload.length >= 2 ? frame.payload.readUInt16BE() : 1005,
          });
        if (frame.opcode === 1) texts.push(frame.payload.toString());
      }
      const isProbed = texts.some((text) => text.includes(`"id":"${PROBE}"`));
      if (isProbed && texts.length > 1) settle({ kind: 'open', texts, code: undefined });
    });
    socket.write(upgradeOf(request));

    function write(): void {
      const bytes = bytesOf(request);
      if (request.cutAt === undefined)
        socket.write(Buffer.concat([bytes, textFrame(JSON.stringify({ id: PROBE, cancelStream: true }))]));
      else socket.write(bytes.subarray(0, request.cutAt), () => settle({ kind: 'left' }));
      // The server may wait for more of a frame than there is: it hears that there is no more.
      if (request.isMangled) socket.end();
    }

    function takeFrame(): { opcode: number; payload: Buffer } | undefined {
      if (received.length < 2) return undefined;
      const short = received[1]!;
      const start = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (received.length < start) return undefined;
      const length =
        short < 126 ? short : short === 126 ? received.readUInt16BE(2) : Number(received.readBigUInt64BE(2));
      if (received.length < start + length) return undefined;
      const frame = { opcode: received[0]! & 15, payload: received.subarray(start, start + length) };
      received = received.subarray(start + length);
      return frame;
    }
  });
}

function upgradeOf({ headers }: SocketRequest): string {
  const all = {
    host: '127.0.0.1',
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': 'a2a.v1',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET /ws HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function refusalIn(received: Buffer): SocketOutcome {
  const [head = '', body = ''] = received.toString().split(/\r\n\r\n([\s\S]*)/);
  return { kind: 'refused', status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), body };
}
