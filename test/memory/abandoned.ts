/**
 * Abandons tasks that wait for input and followers that left, in rounds. Prints what is left after each, and what the
 * heap has more of after the last than after the first.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { createAgentServer, inputRequired, working } from '@batonjs/server';
import type { TaskStore } from '@batonjs/store';
import { sqliteStore } from '@batonjs/store-sqlite';
import { LiveTask } from '../../packages/server/src/log/live-task.ts';
import { TaskRun } from '../../packages/server/src/turns/task-run.ts';
import { grown, heapCounts } from './heap-counts.ts';

const [tasksPerRound = 0, followersPerRound = 0, rounds = 3] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'baton-memory-'));
const file = join(folder, 'tasks.db');
let watched = 0;

const sqlite = sqliteStore(file, { durability: 'normal' });
const store: TaskStore = {
  ...sqlite,
  async subscribe(topic, notify) {
    const unsubscribe = await sqlite.subscribe(topic, notify);
    watched++;
    return () => {
      watched--;
      return unsubscribe();
    };
  },
};
const server = createAgentServer({
  card: { name: 'Asks', description: 'Waits for input' },
  agent: async function* () {
    yield working();
    yield inputRequired('Well?');
  },
  store,
  // Garbage collections block the event loop, which a server logs.
  logger: () => {},
});

let messages = 0;
async function call(method: string, params: object): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  return server.fetch(new Request('http://localhost/', { method: 'POST', headers, body }));
}

async function abandon(): Promise<string> {
  const parts = [{ text: 'x'.repeat(200) }];
  const message = { messageId: `m-${++messages}`, role: 'ROLE_USER', parts };
  const { result } = await (await call('SendMessage', { message })).json();
  if (result.task.status.state !== 'TASK_STATE_INPUT_REQUIRED') throw new Error('It should ask');
  return result.task.id;
}

async function leave(id: string): Promise<void> {
  const { body } = await call('SubscribeToTask', { id });
  const reader = body!.getReader();
  await reader.read();
  await reader.cancel();
}

await call('GetTask', { id: 'none' });
const watchedAtRest = watched;

/** How many of them are in the heap. */
const countOf = (type: new (...args: never[]) => unknown): number =>
  Number(queryObjects(type as unknown as new () => object, { format: 'count' }));

const inGroups = async (count: number, one: () => Promise<unknown>): Promise<void> => {
  for (let n = 0; n < count; n += 50) await Promise.all(Array.from({ length: Math.min(50, count - n) }, one));
};

/** The event loop clears away the tasks soon. Gives up after 20 s: then the report shows what is left, which this returns. */
async function untilCleared() {
  const deadline = performance.now() + 20_000;
  for (;;) {
    await sleep(20);
    if (watched > watchedAtRest && performance.now() < deadline) continue;
    // Each count takes as long as many tasks.
    const left = { liveTasks: countOf(LiveTask), runs: countOf(TaskRun) };
    if (left.liveTasks + left.runs === 0 || performance.now() > deadline) return left;
  }
}

async function round() {
  const ids: string[] = [];
  await inGroups(tasksPerRound, async () => ids.push(await abandon()));
  await inGroups(followersPerRound, async () => leave(ids.pop() ?? ''));
  const left = await untilCleared();
  return { load: server.load, watched: watched - watchedAtRest, ...left };
}

try {
  const after: Awaited<ReturnType<typeof round>>[] = [];
  // It loads and compiles what the others use.
  after.push(await round());
  const first = await heapCounts();
  while (after.length < rounds) after.push(await round());
  const more = grown(first, await heapCounts());
  const db = new DatabaseSync(file, { readOnly: true });
  const count = (where: string) =>
    Number(db.prepare(`SELECT count(*) AS n FROM tasks WHERE ${where}`).get()?.n);
  const [waiting, held] = [count("state = 'TASK_STATE_INPUT_REQUIRED'"), count('holder IS NOT NULL')];
  db.close();
  await server.close();
  await sqlite.close();
  console.log(JSON.stringify({ waiting, held, left: after, more }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
