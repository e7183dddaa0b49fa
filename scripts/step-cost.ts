import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { completed, createAgentServer } from '@batonjs/server';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';

// What asking the store before each step costs: CPU per step with and without `confirmSteps`, in alternating runs.

const tasks = 15;
const stepsPerTask = 20;
const rounds = 7;

/** CPU of the steps of some tasks, one after another, in microseconds per step. */
async function measure(store: TaskStore, name: string, confirmSteps: boolean): Promise<number> {
  let used = 0;
  let ended = () => {};
  const server = createAgentServer({
    card: { name: 'Steps', description: 'Takes many' },
    name,
    store,
    confirmSteps,
    logger: () => {},
    agent: async function* ({ step }) {
      const before = process.cpuUsage();
      for (let n = 0; n < stepsPerTask; n++) await step(`step ${n}`, () => n);
      const { user, system } = process.cpuUsage(before);
      used += user + system;
      yield completed();
    },
    onTransition: ({ to }) => to === 'TASK_STATE_COMPLETED' && ended(),
  });
  for (let n = 0; n < tasks; n++) {
    const done = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const params = { message, configuration: { returnImmediately: true } };
    await server.fetch(
      new Request('http://localhost/', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
      }),
    );
    await done;
  }
  await server.close({ graceMs: 0 });
  return used / (tasks * stepsPerTask);
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

async function compare(name: string, store: TaskStore): Promise<void> {
  const figures = { with: [] as number[], without: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    for (const kind of round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      const us = await measure(store, `${kind} ${round}`, kind === 'with');
      // The first round warms up.
      if (round >= 0) figures[kind].push(us);
    }
  }
  const [asked, plain] = [median(figures.with), median(figures.without)];
  console.log(
    `${name}: ${asked.toFixed(1)} µs of CPU per step with, ${plain.toFixed(1)} µs without; ${(asked / plain).toFixed(2)} : 1`,
  );
  await store.close();
}

const folder = await mkdtemp(join(tmpdir(), 'baton-steps-'));
await compare('memory', memoryStore());
await compare('SQLite, durability full', sqliteStore(join(folder, 'full.db')));
await compare('SQLite, durability normal', sqliteStore(join(folder, 'normal.db'), { durability: 'normal' }));
await rm(folder, { recursive: true });
