import { randomUUID } from 'node:crypto';
import { type Change, isIdle, type Step, StoreError, type TaskWrite, type Wanted } from '@batonjs/store';
import type { Buckets } from '../buckets/buckets.ts';
import type { WriteGroups } from '../cluster/write-groups.ts';
import { digestOf } from '../layout/digest.ts';
import { KeyQueues } from '../layout/key-queues.ts';
import { type Keys, unchanged } from '../layout/keys.ts';
import type { KnownTask, KnownWebhooks } from '../layout/known-task.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import type { Compare } from '../wire/messages.ts';
import { KnownTasks } from './known-tasks.ts';
import { Look, type Reader } from './reader.ts';
import type { Searches } from './searches.ts';
import type { Writer } from './writer.ts';

/** How often the tasks of a change that do not depend on each other are decided again. */
const mostRounds = 20;

/** How many tasks are claimed in one transaction. */
const mostTogether = 60;

/** The most comparisons of a change: with them, a transaction has room for its writes. */
const mostCompares = 110;

export interface ChangesOptions {
  readonly keys: Keys;
  readonly groups: WriteGroups;
  readonly reader: Reader;
  readonly searches: Searches;
  readonly writer: Writer;
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
    if (bucket !== undefined) return this.#options.buckets.change(step);
    if (!tasks) return this.#run(step);
    const digests = tasks.map(({ scope, taskId }) => digestOf(scope, taskId));
    return this.#queues.run(digests, () => this.#run(step, digests));
  }

  async #run<T>(step: Step<T>, named?: readonly string[]): Promise<T> {
    const done = new Set<string>();
    let decided = named && (await this.#guess(step, named));
    for (let round = 1; ; round++) {
      decided ??= await this.#decide(step);
      const { change } = decided;
      if (isIdle(change)) return change.result;
      const { partly, tasks = [] } = change;
      // A claim takes all that it was decided to take, as long as one transaction can hold it: then none is left over.
      if (!partly || (!named && tasks.length <= mostTogether)) {
        if (await this.#write(decided)) return change.result;
      } else {
        const one = decided;
        const nameOf = ({ before }: TaskWrite) => digestOf(before!.scope, before!.taskId);
        const write = async (task: TaskWrite) => {
          if (await this.#write({ ...one, change: { ...change, tasks: [task] } })) done.add(nameOf(task));
        };
        await Promise.all(tasks.filter((task) => !done.has(nameOf(task))).map(write));
        const written = tasks.filter((task) => done.has(nameOf(task)));
        // A claim leaves to others what they wrote. A lease that is renewed must not be lost to its own process.
        const isEnough = named ? written.length === tasks.length : written.length > 0;
        if (isEnough || round === mostRounds) return partly(written);
      }
      decided = undefined;
    }
  }

  /** The change, on what this process knows; undefined if that is not enough. */
  async #guess<T>(
    { wanted, decide, isMostlyIdle }: Step<T>,
    named: readonly string[],
  ): Promise<Decided<T> | undefined> {
    if (isMostlyIdle) return undefined;
    const known = this.#known.find(named);
    if (!known || (wanted.webhooks && [...known.values()].some(({ webhooks }) => !webhooks)))
      return undefined;
    const look = new Look();
    const tasks = wanted.tasks!.map(({ once }, n) => {
      const one = known.get(named[n]!)!;
      look.add(named[n]!, one);
      if (once !== undefined) look.compare(this.#options.keys.once(named[n]!, once), 0);
      return { row: one.row, webhooks: one.webhooks?.rows ?? [], once: undefined };
    });
    try {
      const change = decide({ ...(await this.#options.reader.moment(wanted)), tasks });
      if ('decide' in change || isIdle(change)) return undefined;
      // What was left out of the change was decided on, too.
      if (change.partly && change.tasks?.length !== tasks.length) return undefined;
      const isNew = tasks.some(({ row }) => !row);
      return isNew && !change.tasks?.some(({ facts = [] }) => facts.length > 0)
        ? undefined
        : { change, look, wanted };
    } catch (error) {
      // A refusal is decided on the rows in etcd.
      if (StoreError.is(error)) return undefined;
      throw error;
    }
  }

  async #decide<T>(step: Step<T>, isNarrow = false): Promise<Decided<T>> {
    const { reader, searches } = this.#options;
    const look = new Look(isNarrow);
    const find = (wanted: Wanted) =>
      wanted.tasks ? reader.named(wanted, look, false) : searches.find(wanted, look);
    let decision = step.decide(await find(step.wanted));
    while ('decide' in decision) decision = decision.decide(await find(decision.wanted));
    const decided = { change: decision, look, wanted: step.wanted };
    if (decision.partly || isNarrow || this.#compares(decided).length <= mostCompares) return decided;
    return this.#decide(step, true);
  }

  /** What must still be so when the change is written. */
  #compares({ change, look, wanted }: Decided<unknown>): Compare[] {
    const { keys, writer } = this.#options;
    const compares = new Map(change.partly ? [] : look.compares);
    const compare = (key: string, revision: number) => compares.set(key, unchanged(key, revision));
    const compareTask = (task: string, { revision, webhooks }: KnownTask, withWebhooks: boolean) => {
      compare(keys.task(task), revision);
      if (withWebhooks && webhooks) compare(keys.webhooks(task), webhooks.revision);
    };
    const named = change.partly ? [] : (wanted.tasks ?? []);
    for (const { scope, taskId } of named) {
      const task = digestOf(scope, taskId);
      const known = look.tasks.get(task)!;
      // Who registers the first webhook of a task writes its row.
      compareTask(task, known, wanted.webhooks === true && (known.row?.webhooks ?? 0) > 0);
    }
    for (const [task, { known, write, webhooks }] of writer.tasksOf(change, look)) {
      if (write) compareTask(task, known, webhooks.length > 0 || write.after === undefined);
      else compare(keys.webhooks(task), known.webhooks!.revision);
    }
    return [...compares.values()];
  }

  /** Resolves to whether the change was written: not if something has changed meanwhile. */
  async #write(decided: Decided<unknown>): Promise<boolean> {
    const { groups, wakeups, writer } = this.#options;
    const { change, look } = decided;
    const by = randomUUID();
    const compare = this.#compares(decided);
    const { writes, marked, deleted, uploads, tasks } = await writer.write(change, look, by);
    try {
      const { succeeded, revision, reads, isRepeated } = await groups.run({
        task: tasks.keys().next().value ?? '',
        compare,
        writes,
        reads: [...marked, ...deleted].slice(0, 8).map((key) => ({ key })),
        isAlone: uploads.length > 0 || tasks.size > 1,
      });
      const isFound = () =>
        reads.some(({ kvs }, n) => n < marked.length && String(kvs[0]?.value ?? '').includes(by)) ||
        (marked.length === 0 && reads.length > 0 && reads.every(({ kvs }) => kvs.length === 0));
      if (!succeeded && !(isRepeated && isFound())) {
        this.#known.forget(look.tasks.keys());
        return false;
      }
      if (succeeded) for (const [task, known] of tasks) this.#known.set(task, writtenAt(known, revision));
      else this.#known.forget(tasks.keys());
      for (const topic of change.notify ?? []) wakeups.announce(topic, revision);
      return true;
    } catch (error) {
      this.#known.forget(tasks.keys());
      throw error;
    } finally {
      for (const { done } of uploads) done();
    }
  }
}

/** The task with the revision of what was written of it. */
function writtenAt({ webhooks, ...task }: KnownTask, revision: number): KnownTask {
  const isWritten = webhooks && webhooks.revision === 0 && webhooks.rows.length > 0;
  const kept: KnownWebhooks | undefined = isWritten ? { ...webhooks, revision } : webhooks;
  return { ...task, revision: task.revision || revision, webhooks: kept };
}
