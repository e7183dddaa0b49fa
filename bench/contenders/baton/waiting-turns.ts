/** A server on any store, without HTTP around it, whose turns wait in the queue until they are asked for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { completed, createAgentServer } from '@batonjs/server';
import { createWorker } from '@batonjs/server/worker';
import { inTurn } from '../../harness/in-turn.ts';
import { threadCpu, vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { commitsOfTasks } from '../sample-commits.ts';
import { type StoreChoice, storeOf } from '../stores.ts';

/** `turns`: how many run at once. */
const { turns, ...choice } = given<StoreChoice & { turns: number }>();

type Commit = Parameters<typeof store.commit>[0];

const store = storeOf(choice);
/** The commits of a send, while they are recorded. */
let recorded: Commit[] | undefined;
/** How many turns may still end. The others hold their place. */
let allowed = 0;
let ended = 0;
let opened = Promise.withResolvers<void>();
let finished = Promise.withResolvers<void>();
let expected = 0;
let sent = 0;

const server = createAgentServer({
  card: { name: 'Queue', description: 'Answers when it may' },
  store: {
    ...store,
    commit(commit) {
      recorded?.push(commit);
      return store.commit(commit);
    },
  },
  // A million may wait (`--size`), and those that are sent then.
  limits: { turns, queuedTurns: 2_000_000 },
  onEvent(event) {
    if (event.type !== 'transition') return;
    if (event.to === 'TASK_STATE_COMPLETED' && ++ended === expected) finished.resolve();
  },
  async *agent({ text }) {
    while (allowed === 0) await opened.promise;
    allowed--;
    yield completed(text);
  },
});

/** Sends a message and does not wait for its turn. */
async function send(): Promise<void> {
  const message = { messageId: `sent-${++sent}`, role: 'ROLE_USER', parts: [{ text: 'wait' }] };
  const { status, body } = await server.handle({
    method: 'POST',
    path: '/message:send',
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    readBody: async () => ({ value: { message, configuration: { returnImmediately: true } } }),
    signal: new AbortController().signal,
  });
  if (status !== 200) throw new Error(`A send was answered with ${status}: ${body}`);
}

// From now on, all turns that may run at once are held.
for (let n = 0; n < turns; n++) await send();
const sample = await sampleOfWaiting();

async function sampleOfWaiting(): Promise<readonly Commit[]> {
  recorded = [];
  await send();
  const commits = recorded.filter(({ turn }) => turn?.want);
  recorded = undefined;
  if (commits.length !== 1) throw new Error(`${commits.length} commits instead of one`);
  return commits;
}

async function endTurns(count: number): Promise<number> {
  const start = performance.now();
  expected = ended + count;
  finished = Promise.withResolvers();
  allowed = count;
  opened.resolve();
  opened = Promise.withResolvers();
  await finished.promise;
  return performance.now() - start;
}

/**
 * Starts a worker on a new memory store with so many waiting turns that never wait themselves. In milliseconds: how long
 * the event loop did not turn, and the most CPU time that one of its turns took.
 */
async function drain(count: number): Promise<{ stall: number; busiest: number }> {
  const full = storeOf({ store: 'memory' });
  for (const commit of commitsOfTasks(sample, count).flat()) await full.commit(commit);
  vitals.stall();
  // The first interval after a reset is not counted.
  await sleep(50);
  let left = count;
  let busiest = 0;
  const drained = Promise.withResolvers<void>();
  const worker = createWorker({
    store: full,
    onEvent(event) {
      if (event.type !== 'transition') return;
      if (event.to === 'TASK_STATE_COMPLETED' && --left === 0) drained.resolve();
    },
    async *agent({ text }) {
      yield completed(text);
    },
  });
  const watch = (since: number) => {
    const now = threadCpu();
    busiest = Math.max(busiest, now - since);
    if (left > 0) setImmediate(watch, now);
  };
  setImmediate(watch, threadCpu());
  await drained.promise;
  await worker.close();
  await sleep(50);
  return { stall: vitals.stall(), busiest };
}

const queue = sample[0]!.turn!.queue;

const questions = {
  ...vitals,
  /** Makes so many tasks wait, or more. */
  async fill(waiting: number): Promise<void> {
    for (let left = waiting - (await store.waiting(queue)); left > 0; left -= 500) {
      const commits = commitsOfTasks(sample, Math.min(500, left)).flat();
      await Promise.all(commits.map((commit) => store.commit(commit)));
      await sleep(1);
    }
  },
  waiting: () => store.waiting(queue),
  /** Sends so many messages, 16 at a time. Resolves to milliseconds. */
  sends: (count: number) => inTurn(count, 16, send),
  /** Lets so many turns end. Resolves to milliseconds. */
  turns: endTurns,
  drain,
};
export type WaitingTurns = typeof questions;
answer(questions);
