/** One process of the benchmark of files: what it is asked to do, it does, and says what that took. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { createServer, get, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type AgentClient, connect } from '@batonjs/client';
import { type Agent, artifact, completed, createAgentServer, file, type Part } from '@batonjs/server';
import { folderFiles, listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { answer, given } from '../harness/worker.ts';

const { folder } = given<{ readonly folder: string }>();
const source = join(folder, 'source');
const bare = join(folder, 'bare');

/** The CPU time of this process so far in milliseconds, and the memory that it has, in bytes. */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 20).unref();

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash) {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Hashes all that comes. */
async function drained(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}

/** What `node:http` takes for the same: bytes are hashed, written and synced, and read. */
async function serveBare(): Promise<string> {
  const server = createServer(async (req, res) => {
    const hash = createHash('sha256');
    if (req.method === 'POST') {
      await pipeline(req, (bytes) => hashed(bytes, hash), createWriteStream(bare, { flush: true }));
      return res.end(hash.digest('hex'));
    }
    res.writeHead(200, { 'content-length': statSync(bare).size });
    await pipeline(createReadStream(bare), res);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function putBare(url: string): Promise<void> {
  const headers = { 'content-length': statSync(source).size };
  const req = request(url, { method: 'POST', headers });
  const answered = new Promise((resolve, reject) => req.on('response', resolve).on('error', reject));
  await pipeline(createReadStream(source), req);
  await drained((await answered) as AsyncIterable<Uint8Array>);
}

const getBare = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, (res) => resolve(drained(res))).on('error', reject);
  });

const agent: Agent = async function* ({ message, file: open, saveFile }) {
  const [part] = message.parts as [Part];
  if ('text' in part) {
    // Files of 100 kB, in artifacts of a hundred.
    for (let n = 0; n < Number(part.text); n += 100) {
      const parts = Array.from({ length: 100 }, (_, k) => file(Buffer.alloc(100_000, `${n + k} `)));
      yield artifact(`${n}`, ...(parts as [Part]));
    }
  } else {
    const saved = await saveFile(open(part).stream(), { filename: 'copy', mediaType: 'video/mp4' });
    yield artifact('copy', saved);
  }
  yield completed();
};

async function serve(): Promise<string> {
  const { url } = await listen(
    createAgentServer({
      card: { name: 'Copier', description: 'Copies', defaultInputModes: ['*/*'] },
      agent,
      store: sqliteStore(join(folder, 'tasks.db')),
      publicUrl: 'http://127.0.0.1:4999',
      files: { store: folderFiles(join(folder, 'files')), uploadBytes: 2 ** 40 },
      timeouts: { blockingMs: 3_600_000 },
    }),
    { port: 4_999 },
  );
  return url;
}

let client: AgentClient;
let uploaded: Part;

const questions = {
  serveBare,
  serve,
  putBare,
  getBare,
  async throughBare() {
    const hash = createHash('sha256');
    await pipeline(
      createReadStream(bare),
      (bytes) => hashed(bytes, hash),
      createWriteStream(`${bare}.copy`, { flush: true }),
    );
  },
  async connect(url: string) {
    client = await connect(url);
  },
  async put() {
    uploaded = await client.upload(source, { mediaType: 'video/mp4' });
  },
  async through() {
    const { task } = await client.send([uploaded]);
    const [part] = task?.artifacts?.[0]?.parts ?? [];
    return part && 'url' in part ? part.url : '';
  },
  get: async (url: string) => drained((await fetch(url)).body!),
  async make(files: number) {
    return (await client.send(`${files}`)).task?.id ?? '';
  },
  async read(id: string) {
    const task = await client.getTask({ id });
    return task.artifacts!.flatMap(({ parts }) => parts).length;
  },
  async list() {
    const { tasks } = await client.listTasks({ includeArtifacts: true });
    return tasks.flatMap(({ artifacts = [] }) => artifacts.flatMap(({ parts }) => parts)).length;
  },
  /** What was taken since this was asked last: CPU time in ms, and memory above what it is now. */
  begin() {
    globalThis.gc?.();
    peak = process.memoryUsage.rss();
    return { cpu: cpu(), rss: peak };
  },
  end: () => ({ cpu: cpu(), rss: Math.max(peak, process.memoryUsage.rss()) }),
};
export type FileQuestions = typeof questions;
answer(questions);
