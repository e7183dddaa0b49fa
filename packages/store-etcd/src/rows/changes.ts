import { randomUUID } from 'node:crypto';
import {
  type Change,
  changedRow,
  guessed,
  isIdle,
  type Replaced,
  type Step,
  type TaskRow,
  type Wanted,
} from '@batonjs/store/adapter';
import type { WriteGroups } from '../cluster/write-groups.ts';
import type { Database } from '../layout/database.ts';
import { KeyQueues } from '../layout/key-queues.ts';
import { unchanged } from '../layout/keys.ts';
import type { KnownTask } from '../layout/known-task.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import type { Compare } from '../wire/messages.ts';
import type { Buckets } from './buckets.ts';
import { KnownTasks } from './known-tasks.ts';
import { Look, type NamedTask, namedIn, taskIn } from './look.ts';
import type { Reader } from './reader.ts';
import type { Searches } from './searches.ts';
import { type TaskChange, tasksOf, Writing } from './writing.ts';

/** How often the tasks of a change that do not depend on each other are decided again. */
const mostRounds = 20;

/** How many tasks are claimed in one transaction. */
const mostTogether = 60;

/** The most comparisons of a change: with them, a transaction has room for its writes. */
const mostCompares = 110;

export interface ChangesOptions {
  readonly db: Database;
  readonly groups: WriteGroups;
  readonly reader: Reader;
  readonly searches: Searches;
  readonly buckets: Buckets;
  readonly wakeups: Wakeups;
}

/** A decision, and what it was decided on. */
interface Decided<T> {
  readonly change: Change<T>;
  readonly look: Look;
  readonly wanted: Wanted;
}

/** Decides changes, and writes each in a transaction that compares the revisions that it was decided on. */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #known = new KnownTasks();
  readonly #queues = new KeyQueues();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  run<T>(step: Step<T>): Promise<T> {
    const { bucket, tasks } = step.wanted;
    if (bucket !== undefined) return this.#options.buckets.change(step, bucket);
    if (!tasks) return this.#run(step);
    const named = namedIn(step.wanted);
    return this.#queues.run(
      named.map(({ task }) => task),
      () => this.#run(step, named),
    );
  }

  async #run<T>(step: Step<T>, named?: readonly NamedTask[]): Promise<T> {
    const done = new Set<string>();
    const isDone = (task: Replaced<TaskRow>) => done.has(taskIn(changedRow(task)));
    let decided = named && (await this.#guess(step, named));
    for (let round = 1; ; round++) {
      const one = decided ?? (await this.#decide(step));
      decided = undefined;
      const { change } = one;
      if (isIdle(change)) return change.result;
      const { partly, tasks = [] } = change;
      // A claim takes all that it was decided to take, as long as one transaction can hold it: then none is left over.
      if (!partly || (!named && tasks.length <= mostTogether)) {
        if (await this.#write(one)) return change.result;
        continue;
      }
      const write = async (task: (typeof tasks)[number]) => {
        const isWritten = await this.#write({ ...one, change: { ...change, tasks: [task] } });
        if (isWritten) done.add(taskIn(changedRow(task)));
      };
      await Promise.all(tasks.filter((task) => !isDone(task)).map(write));
      const written = tasks.filter(isDone);
      // A claim leaves to others what they wrote. A lease that is renewed must not be lost to its own process.
      const isEnough = named ? written.length === tasks.length : written.length > 0;
      if (isEnough || round === mostRounds) return partly(written);
    }
  }

  /** The change, on what this process knows; undefined if that is not enough. */
  async #guess<T>(step: Step<T>, named: readonly NamedTask[]): Promise<Decided<T> | undefined> {
    const { wanted } = step;
    const found = step.isMostlyIdle ? undefined : this.#known.find(named);
    if (!found || (wanted.webhooks && found.some(({ known }) => !known.webhooks))) return undefined;
    const look = new Look();
    const tasks = found.map(({ task, once, known }) => {
      look.add(task, known);
      if (once !== undefined) look.compare(this.#options.db.keys.once(task, once));
      return { row: known.row, webhooks: known.webhooks?.rows ?? [], once: undefined };
    });
    for (const name of wanted.records ?? []) look.compare(this.#options.db.keys.record(name));
    // A record that is wanted with a task mostly is not there.
    const records = wanted.records?.map(() => undefined);
    const change = guessed(step, { ...(await this.#options.reader.moment(wanted)), tasks, records });
    // What was left out of the change was decided on, too.
    if (!change || (change.partly && change.tasks?.length !== tasks.length)) return undefined;
    const isNew = tasks.some(({ row }) => !row);
    if (isNew && !change.tasks?.some(({ facts = [] }) => facts.length > 0)) return undefined;
    return { change, look, wanted };
  }

  async #decide<T>(step: Step<T>, isNarrow = false): Promise<Decided<T>> {
    const { reader, searches } = this.#options;
    const look = new Look(isNarrow);
    const find = (wanted: Wanted) =>
      wanted.tasks || wanted.records ? reader.named(wanted, look) : searches.find(wanted, look);
    let decision = step.decide(await find(step.wanted));
    while ('decide' in decision) decision = decision.decide(await find(decision.wanted));
    const decided = { change: decision, look, wanted: step.wanted };
    if (decision.partly || isNarrow) return decided;
    const isTooLarge = this.#compares(decided, tasksOf(decision, look)).length > mostCompares;
    return isTooLarge ? this.#decide(step, true) : decided;
  }

  /** What must still be so when the change is written. */
  #compares({ change, look, wanted }: Decided<unknown>, tasks: ReadonlyMap<string, TaskChange>): Compare[] {
    const { keys } = this.#options.db;
    const revisions = new Map(change.partly ? [] : look.compares);
    const compareTask = (task: string) => revisions.set(keys.task(task), look.get(task).revision);
    const compareWebhooks = (task: string) => {
      const { webhooks } = look.get(task);
      if (webhooks) revisions.set(keys.webhooks(task), webhooks.revision);
    };
    for (const { task } of change.partly ? [] : namedIn(wanted)) {
      compareTask(task);
      // Who registers the first webhook of a task writes its row.
      if (wanted.webhooks && look.get(task).row?.webhooks) compareWebhooks(task);
    }
    for (const [task, { write, webhooks }] of tasks) {
      if (write) compareTask(task);
      if (webhooks.length > 0 || !write?.after) compareWebhooks(task);
    }
    return Array.from(revisions, ([key, revision]) => unchanged(key, revision));
  }

  /** Resolves to whether the change was written: not if something has changed meanwhile. */
  async #write(decided: Decided<unknown>): Promise<boolean> {
    const { db, groups, wakeups } = this.#options;
    const { change, look } = decided;
    const by = randomUUID();
    const changed = tasksOf(change, look);
    const writing = new Writing(db, by);
    try {
      await writing.add(change, changed, look);
      const { writes, marked, deleted, tasks } = writing;
      const { succeeded, revision, reads, isRepeated } = await groups.run({
        task: changed.keys().next().value ?? change.records?.map(changedRow)[0]?.name ?? '',
        compare: this.#compares(decided, changed),
        writes,
        reads: [...marked, ...deleted].slice(0, 8).map((key) => ({ key })),
        isAlone: writing.hasUploads || changed.size > 1 || (change.records?.length ?? 0) > 1,
      });
      const isFound = () =>
        reads.some(({ kvs }, n) => n < marked.length && String(kvs[0]?.value).includes(by)) ||
        (marked.length === 0 && reads.every(({ kvs }) => kvs.length === 0));
      if (!succeeded && !(isRepeated && isFound())) {
        this.#known.forget(look.tasks);
        return false;
      }
      if (succeeded) for (const [task, known] of tasks) this.#known.set(task, writtenAt(known, revision));
      else this.#known.forget(tasks.keys());
      for (const topic of change.notify ?? []) wakeups.announce(topic, revision);
      return true;
    } catch (error) {
      this.#known.forget(changed.keys());
      throw error;
    } finally {
      writing.done();
    }
  }
}

/** The task with the revision of what was written of it. */
function writtenAt({ webhooks, ...task }: KnownTask, revision: number): KnownTask {
  const isWritten = webhooks && webhooks.revision === 0 && webhooks.rows.length > 0;
  return {
    ...task,
    revision: task.revision || revision,
    webhooks: isWritten ? { ...webhooks, revision } : webhooks,
  };
}
