import { isTerminal } from '@batonjs/lifecycle';
import { sleep } from '@batonjs/protocol/timing';
import type { ListedTask, Scope, TaskPage, TaskStore } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import type { AgentCharts, ChartRange } from '../api/charts.ts';
import { problemOf } from '../http/reply.ts';
import { countOpen } from '../tasks/count-open.ts';
import { ChartCounts, longestMs } from './chart-counts.ts';
import { Once } from './once.ts';

/** Tasks on a page, and about how many bytes of facts. */
const page = { limit: 250, bytes: 262_144 };
/** The most tasks of a scope that one pass reads. Charts begin after what it left. */
const mostRead = 20_000;
/** A commit of another process may appear so much later than its time says, in milliseconds. */
const lateMs = 60_000;
/** The shortest time between two passes, in milliseconds, and the longest once a reader has looked. */
const pauseMs = { shortest: 2_000, longest: 60_000 };
/** How long a reader waits for a pass, in milliseconds: the first one reads a week. */
const patienceMs = 500;

/** One scope, and how far it was read. */
interface Place {
  readonly scope: Scope;
  readonly started: Once;
  readonly ended: Once;
  /** The newest change that was seen: milliseconds since 1970. */
  seen: number;
}

/**
 * The charts of an agent, from counters in this process. A pass reads the tasks that changed since the pass before, from
 * the index by which the store lists them. Nothing is read before the first reader.
 */
export class StoreCharts {
  readonly #store: AgentStore;
  readonly #now: () => number;
  #counts = new ChartCounts();
  #places: readonly Place[] = [];
  #since = 0;
  #pass: Promise<void> | undefined;
  #passedAt = Number.NEGATIVE_INFINITY;
  #isComplete = false;
  #problem: string | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(store: AgentStore, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
    this.#begin();
  }

  #begin(): void {
    this.#counts = new ChartCounts();
    this.#since = this.#now() - longestMs;
    this.#places = this.#store.scopes.map(({ scope }) => ({
      scope,
      started: new Once(this.#since),
      ended: new Once(this.#since),
      seen: this.#since,
    }));
  }

  /** The charts as they are after a pass; while a long one runs, as far as it is. */
  async read(range: ChartRange): Promise<Omit<AgentCharts, 'agent'>> {
    this.#timer ??= setInterval(() => void this.#catchUp(), pauseMs.longest).unref();
    const read = new AbortController();
    await Promise.race([this.#catchUp(), sleep(patienceMs, read.signal)]);
    read.abort();
    return {
      ...this.#counts.read(range, this.#now()),
      since: new Date(this.#since).toISOString(),
      ...(!this.#isComplete && !this.#problem && { isReading: true }),
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  /** Reads what changed, unless that was done just now. Never rejects. */
  #catchUp(): Promise<void> {
    const isFresh = Math.abs(this.#now() - this.#passedAt) < pauseMs.shortest;
    if (isFresh || this.#isClosed) return this.#pass ?? Promise.resolve();
    this.#pass ??= this.#readAll()
      .then(
        () => {
          this.#problem = undefined;
          this.#isComplete = true;
        },
        (error: unknown) => {
          this.#problem = problemOf(error).message;
        },
      )
      .finally(() => {
        this.#passedAt = this.#now();
        this.#pass = undefined;
      });
    return this.#pass;
  }

  async #readAll(): Promise<void> {
    // The clock was ahead: nothing was counted up to a time that has not come, and too much was forgotten.
    if (this.#now() < this.#passedAt - lateMs) this.#begin();
    for (const place of this.#places) await this.#readPlace(place);
    this.#counts.waiting(this.#now(), await countWaiting(this.#store));
    this.#counts.prune(this.#now());
  }

  async #readPlace(place: Place): Promise<void> {
    const statusSince = new Date(place.seen - lateMs).toISOString();
    let after: TaskPage['tasks'][number] | undefined;
    let newest = place.seen;
    for (let read = 0; !this.#isClosed; ) {
      const { tasks, isCut } = await this.#store.tasks.list(place.scope, {
        ...page,
        statusSince,
        totalAtMost: 1,
        ...(after && { after: { statusAt: after.head.statusAt, taskId: after.taskId } }),
      });
      for (const task of tasks) newest = Math.max(newest, await this.#count(place, task));
      after = tasks.at(-1);
      read += tasks.length;
      if (!after || (tasks.length < page.limit && !isCut)) break;
      if (read >= mostRead) {
        this.#since = Math.max(this.#since, Date.parse(after.head.statusAt));
        break;
      }
    }
    // A time that has not come is that of a process whose clock was ahead.
    newest = Math.min(newest, this.#now());
    place.seen = newest;
    place.started.advance(newest - lateMs);
    place.ended.advance(newest - lateMs);
  }

  /** Counts a task that changed. Resolves to when it did. */
  async #count({ scope, started, ended }: Place, { taskId, head }: ListedTask): Promise<number> {
    const at = Date.parse(head.statusAt);
    const startedAt = timeOf(taskId) ?? (await startOf(this.#store.tasks, scope, taskId)) ?? at;
    if (started.isNew(taskId, startedAt)) this.#counts.started(startedAt);
    if (head.state !== undefined && isTerminal(head.state) && ended.isNew(taskId, at))
      this.#counts.ended(at, {
        hasFailed: head.state === 'TASK_STATE_FAILED',
        ms: Math.max(0, at - startedAt),
      });
    return at;
  }
}

/** When an id of version 7 was made, in milliseconds since 1970; undefined for another one. */
export function timeOf(id: string): number | undefined {
  const found = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.exec(id);
  return found ? Number.parseInt(`${found[1]}${found[2]}`, 16) : undefined;
}

async function startOf(store: TaskStore, scope: Scope, taskId: string): Promise<number | undefined> {
  const [first] = await store.readFacts(scope, taskId, 0, 1);
  return first && Date.parse(first.fact.at);
}

/** How many tasks wait for an answer: all of the agent, if the store counts them, else those that are listed. */
async function countWaiting(store: AgentStore): Promise<number> {
  const { questions } = (await store.tasks.measure?.(store.queue)) ?? {};
  if (!questions) return (await countOpen(store)).asking;
  return Object.values(questions).reduce((sum, count) => sum + count, 0);
}
