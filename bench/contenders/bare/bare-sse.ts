/**
 * The floor under streams: an Express app that writes server-sent events as long as Baton's. Knows no tasks: each client
 * follows, and `produce` writes every event to all of them. `replay` lines are sent one by one to a client that asks for them.
 */
import { createServer, type ServerResponse } from 'node:http';
import express from 'express';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer } from '../../harness/worker.ts';
import { produced } from '../produced.ts';
import { readId } from '../template.ts';

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
const origin = crypto.randomUUID();
const taskId = crypto.randomUUID();
const contextId = crypto.randomUUID();
const followers = new Map<ServerResponse, number>();
let replayed: readonly string[] = [];

const app = express();
app.post('/', (req, res) =>
  readId(req, (id) => {
    res.writeHead(200, headers);
    res.flushHeaders();
    followers.set(res, id);
    res.once('close', () => followers.delete(res));
    res.write(event(id, 0, { task: { id: taskId, contextId, status: { state: 'TASK_STATE_WORKING' } } }));
  }),
);
app.post('/replay', (req, res) =>
  readId(req, async () => {
    res.writeHead(200, headers);
    for (const line of replayed)
      if (!res.write(line)) await new Promise<void>((resolve) => void res.once('drain', resolve));
    res.end();
  }),
);
const url = await listen(createServer(app));

const event = (id: number, version: number, result: unknown): string =>
  `id: ${origin}.${version}\ndata: {"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}\n\n`;

const questions = {
  ...vitals,
  url: () => url,
  followers: () => followers.size,
  /**
   * Writes so many events to all who follow, one every so many milliseconds, and ends their streams. `each`: makes each
   * event for each of them, as for streams of different tasks.
   */
  async produce({
    count,
    everyMs,
    each = false,
  }: {
    count: number;
    everyMs: number;
    each?: boolean;
  }): Promise<void> {
    let version = 0;
    const write = (update: unknown, text: string) => {
      version++;
      const make = () => JSON.stringify(update).replace('"text":""', `"text":${JSON.stringify(text)}`);
      const result = make();
      for (const [res, id] of followers) {
        const own = each ? make() : result;
        res.write(`id: ${origin}.${version}\ndata: {"jsonrpc":"2.0","id":${id},"result":${own}}\n\n`);
      }
    };
    for await (const text of produced(count, everyMs))
      write(
        {
          artifactUpdate: {
            taskId,
            contextId,
            artifact: { artifactId: 'ticks', parts: [{ text: '' }] },
            append: true,
          },
        },
        text,
      );
    write(
      {
        statusUpdate: {
          taskId,
          contextId,
          status: { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() },
        },
      },
      '',
    );
    for (const res of followers.keys()) res.end();
  },
  /** What `/replay` sends: events as they are written. */
  learn(lines: readonly string[]): void {
    replayed = lines;
  },
};
export type BareSse = typeof questions;
answer(questions);
