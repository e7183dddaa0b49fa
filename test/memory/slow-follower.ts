/**
 * Streams many megabytes by followers that do not read, and says how much memory they cost; then one of them reads on.
 * Run with `--expose-gc`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { artifact, completed, createAgentServer, text, working } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';

const [megabytes = 188, followers = 4] = process.argv.slice(2).map(Number);
const chunk = 'x'.repeat(64 * 1024);
const chunks = Math.ceil((megabytes * 1024 * 1024) / chunk.length);
const folder = mkdtempSync(join(tmpdir(), 'baton-slow-'));
const store = sqliteStore(join(folder, 'tasks.db'), { durability: 'normal' });
const go = Promise.withResolvers<void>();

const server = createAgentServer({
  card: { name: 'Much', description: 'Says much' },
  // Each chunk takes the place of the one before: only the followers cost memory.
  agent: async function* () {
    yield working();
    await go.promise;
    for (let n = 0; n < chunks; n++) yield artifact({ artifactId: 'much' }, text(`${n} ${chunk}`));
    yield completed();
  },
  store,
});
const http = createServer(express().use(a2aExpress(server)));
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', () => resolve()));
const { port } = http.address() as AddressInfo;

async function call(method: string, params: object) {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()).result;
}

/** A follower that reads only when `read` or `readUntil` is called. */
class Follower {
  readonly socket: Socket;
  /** The numbers of the chunks that arrived. */
  readonly numbers: number[] = [];
  #rest = '';
  #read = 0;
  #isOver = false;
  #latest = '';
  #onPiece = () => {};

  constructor(id: string) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } });
    this.socket = connect(port, '127.0.0.1');
    const head =
      'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n';
    this.socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    this.socket.on('data', (piece) => this.#take(String(piece))).pause();
  }

  /** Reads so many bytes more, or to the end of the stream. */
  async read(bytes: number): Promise<void> {
    const until = this.#read + bytes;
    await this.#readUntil(() => this.#read >= until || this.#isOver);
  }

  /** Reads the first event: from then on, it follows the task. */
  begin(): Promise<void> {
    return this.#readUntil(() => this.#latest.includes('"task"'));
  }

  async #readUntil(isEnough: () => boolean): Promise<void> {
    this.socket.resume();
    while (!isEnough()) await new Promise<void>((resolve) => (this.#onPiece = resolve));
    this.socket.pause();
  }

  #take(piece: string): void {
    this.#read += piece.length;
    this.#latest = piece;
    queueMicrotask(this.#onPiece);
    this.#isOver ||= piece.includes('TASK_STATE_COMPLETED');
    const text = this.#rest + piece;
    const found = [...text.matchAll(/"text":"(\d+) x/g)];
    this.numbers.push(...found.map(([, number]) => Number(number)));
    const last = found.at(-1);
    this.#rest = (last ? text.slice(last.index + last[0].length) : text).slice(-100);
  }
}

/** The bytes that this process holds after garbage collections, until one frees less than a hundredth of them. */
async function memory(): Promise<number> {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    const held = heapUsed + external + arrayBuffers;
    if (held > before * 0.99) return held;
    before = held;
  }
}

try {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] };
  const { task } = await call('SendMessage', { message, configuration: { returnImmediately: true } });
  const all = Array.from({ length: followers }, () => new Follower(task.id));
  await Promise.all(all.map((follower) => follower.begin()));
  const before = await memory();
  go.resolve();
  let most = 0;
  while ((await call('GetTask', { id: task.id })).status.state === 'TASK_STATE_WORKING') {
    // Between two samples, the server gets time to stream.
    await sleep(300);
    most = Math.max(most, (await memory()) - before);
  }
  // They read some of it, and stop again.
  for (const follower of all) await follower.read(4 * 1024 * 1024);
  const lagging = (await memory()) - before;
  await all[0]!.read(Number.POSITIVE_INFINITY);
  const { numbers } = all[0]!;
  const inOrder = numbers.every((number, n) => number === n);
  for (const { socket } of all) socket.destroy();
  await server.close({ graceMs: 0 });
  http.closeAllConnections();
  http.close();
  await store.close();
  const each = { idle: Math.round(most / followers), lagging: Math.round(lagging / followers) };
  console.log(JSON.stringify({ chunks, each, read: numbers.length, inOrder }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
