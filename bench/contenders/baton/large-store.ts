/** A store without a server around it that holds many finished tasks, a second apart from each other. */

import { median } from '../../harness/measure.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import type { Commit } from '../sample-commits.ts';
import { sampleCommits } from '../sample-commits.ts';
import { type StoreChoice, storeOf } from '../stores.ts';

const store = storeOf(given<StoreChoice>());
const sample = await sampleCommits('quote');
const { scope } = sample[0]!;
const facts = sample.flatMap((commit) => commit.facts);
const head = sample.at(-1)!.head!;
const begin = Date.parse('2020-01-01T00:00:00.000Z');
const atOf = (n: number) => new Date(begin + n * 1_000).toISOString();
const idOf = (n: number) => `task-${String(n).padStart(9, '0')}`;
const pageSize = 50;
/** So many tasks are deleted at a time, as retention does. */
const prunedAtOnce = 50;

/** All of a task in one commit, as the last commit of it leaves it. */
const finished = (n: number): Commit => ({
  scope,
  taskId: idOf(n),
  commitId: `commit-${n}`,
  expectedVersion: 0,
  facts,
  // A context for every ten tasks.
  head: { ...head, contextId: `context-${Math.floor(n / 10)}`, statusAt: atOf(n) },
});

async function inTurn(count: number, atATime: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}

/** Resolves to milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Of the milliseconds of commits, in order. */
const spreadOf = (times: readonly number[]) => ({
  longest: times.at(-1)!,
  p99: times[Math.floor(times.length * 0.99)]!,
  middle: median([...times]),
  commits: times.length,
});

let sent = 0;

/** Commits what sends commit, of eight tasks at a time, until `isOver`. Resolves to the milliseconds of each commit. */
async function send(isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const one = async () => {
    while (!isOver()) {
      const taskId = `sent-${process.pid}-${++sent}`;
      const now = new Date().toISOString();
      for (const [n, commit] of sample.entries()) {
        const { turn, writer } = commit;
        const holder = `holder-${taskId}`;
        const own: Commit = {
          ...commit,
          taskId,
          commitId: `${taskId}-${n}`,
          head: { ...commit.head!, statusAt: now },
          ...(turn?.acquire && { turn: { ...turn, acquire: { ...turn.acquire, holder } } }),
          ...(writer && { writer: { ...writer, holder } }),
        };
        times.push(await timed(async () => store.commit(own)));
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return times.sort((a, b) => a - b);
}

const questions = {
  ...vitals,
  /** Stores tasks `from` to `to`, without the last. */
  fill: ({ from, to }: { from: number; to: number }) =>
    inTurn(to - from, 256, async (n) => store.commit(finished(from + n))),
  /** The median of so many reads of each kind, in microseconds. `size`: how many tasks are stored. */
  async reads({ size, requests }: { size: number; requests: number }) {
    const page = async (after: number | undefined) => {
      const place = after === undefined ? {} : { after: { statusAt: atOf(after), taskId: idOf(after) } };
      const { tasks, total } = await store.list(scope, { limit: pageSize, totalAtMost: 100, ...place });
      if (tasks.length !== pageSize || total < 100) throw new Error(`${tasks.length} tasks of ${total}`);
      const newest = after === undefined ? size - 1 : after - 1;
      if (tasks[0]!.taskId !== idOf(newest)) throw new Error(`Another task: ${tasks[0]!.taskId}`);
    };
    const get = async (n: number) => {
      const log = await store.load(scope, idOf((n * 7_919) % size));
      if (log?.facts.length !== facts.length) throw new Error('Another log');
    };
    const works = { load: get, 'first page': () => page(undefined), 'last page': () => page(pageSize) };
    const medians: Record<string, number> = {};
    for (const [name, work] of Object.entries(works)) {
      const times: number[] = [];
      for (let n = 0; n < requests; n++) times.push(await timed(() => work(n)));
      medians[name] = median(times) * 1_000;
    }
    return medians;
  },
  /** Deletes tasks `from` to `to`, the oldest, while sends go on. Resolves to milliseconds: of all, and of the commits. */
  async prune({ from, to }: { from: number; to: number }) {
    let isOver = false;
    const during = send(() => isOver);
    const ms = await timed(async () => {
      for (let deleted = from; deleted < to; ) {
        const some = await store.prune({ closedBefore: atOf(to), limit: prunedAtOnce });
        if (some === 0) throw new Error(`Only ${deleted} of ${to} were deleted`);
        deleted += some;
      }
    });
    isOver = true;
    return { ms, ...spreadOf(await during) };
  },
  /** Sends for so many milliseconds, and nothing else. */
  async sendFor(ms: number) {
    const start = performance.now();
    return spreadOf(await send(() => performance.now() - start > ms));
  },
};
export type LargeStore = typeof questions;
answer(questions);
