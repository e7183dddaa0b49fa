import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A response: its body as text. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

const headEnd = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection that speaks just enough HTTP/1.1: a client that costs less than what it measures. One request
 * at a time. Bodies are ASCII.
 */
export class Connection {
  readonly #socket: Socket;
  #rest: Buffer | undefined;
  /** Takes the bytes of a response; returns those after it, or undefined if there are more to come. */
  #take: ((bytes: Buffer) => Buffer | undefined) | undefined;
  #fail: (error: unknown) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#read(bytes));
    socket.once('close', () => this.#fail(new Error('The connection was closed')));
    socket.on('error', (error) => this.#fail(error));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Sends a request and waits for the whole response. */
  request(text: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      let head: Head | undefined;
      let body = '';
      this.#take = (bytes) => {
        if (!head) {
          const end = bytes.indexOf(headEnd);
          if (end === -1) return this.#keep(bytes);
          head = readHead(bytes.toString('latin1', 0, end));
          bytes = bytes.subarray(end + 4);
        }
        if (head.chunked) {
          const rest = readChunks(bytes, (text) => {
            body += text;
          });
          if (rest.open) return this.#keep(rest.bytes);
          bytes = rest.bytes;
        } else {
          if (bytes.length < head.length) return this.#keep(bytes);
          body = bytes.toString('latin1', 0, head.length);
          bytes = bytes.subarray(head.length);
        }
        this.#take = undefined;
        resolve({ status: head.status, body });
        return bytes;
      };
      this.#socket.write(text, 'latin1');
    });
  }

  /** Sends a request and hands on the body piece by piece as it comes. Resolves at its end to the status. */
  stream(text: string, onText: (text: string) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      let head: Head | undefined;
      this.#take = (bytes) => {
        if (!head) {
          const end = bytes.indexOf(headEnd);
          if (end === -1) return this.#keep(bytes);
          head = readHead(bytes.toString('latin1', 0, end));
          bytes = bytes.subarray(end + 4);
          if (!head.chunked) throw new Error(`Not a stream: ${bytes.toString('latin1')}`);
        }
        const rest = readChunks(bytes, onText);
        if (rest.open) return this.#keep(rest.bytes);
        this.#take = undefined;
        resolve(head.status);
        return rest.bytes;
      };
      this.#socket.write(text, 'latin1');
    });
  }

  close(): void {
    this.#fail = () => {};
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    const all = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes;
    this.#rest = undefined;
    try {
      const after = this.#take?.(all);
      if (after && after.length > 0) throw new Error('Bytes that belong to no response');
    } catch (error) {
      this.#fail(error);
      this.#socket.destroy();
    }
  }

  #keep(bytes: Buffer): undefined {
    if (bytes.length > 0) this.#rest = bytes;
  }
}

interface Head {
  readonly status: number;
  readonly length: number;
  readonly chunked: boolean;
}

function readHead(head: string): Head {
  return {
    status: Number(head.slice(9, 12)),
    length: Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0),
    chunked: /\r\ntransfer-encoding: chunked/i.test(head),
  };
}

/** Hands on whole chunks. `open`: the last chunk has not come yet, and `bytes` begin the next ones. */
function readChunks(bytes: Buffer, onText: (text: string) => void): { open: boolean; bytes: Buffer } {
  for (;;) {
    const line = bytes.indexOf('\r\n');
    if (line === -1) return { open: true, bytes };
    const length = Number.parseInt(bytes.toString('latin1', 0, line), 16);
    const end = line + 2 + length;
    if (bytes.length < end + 2) return { open: true, bytes };
    if (length === 0) return { open: false, bytes: bytes.subarray(end + 2) };
    onText(bytes.toString('latin1', line + 2, end));
    bytes = bytes.subarray(end + 2);
  }
}
