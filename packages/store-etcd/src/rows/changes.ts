import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import {
  type Change,
  ComparedChanges,
  changedRow,
  Known,
  type Replaced,
  type Step,
  type TaskRow,
  type Wanted,
} from '@batonjs/store/adapter';
import { guessed } from '@batonjs/store/rules';
import type { Cluster, WriteGroups } from '../cluster/cluster.ts';
import { unchanged } from '../layout/keys.ts';
import { absent, type Database, type KnownTask, noWebhooks } from '../layout/known-task.ts';
import type { Wakeups } from '../notifications/watches.ts';
import type { Compare, RangeResponse } from '../wire/messages.ts';
import type { Buckets } from './buckets.ts';
import type { Reader } from './reader.ts';
import { Look, namedIn } from './records.ts';
import type { Searches } from './searches.ts';
import { type TaskChange, tasksOf, Writing } from './writing.ts';

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
  readonly #known = new Known<KnownTask>(absent);
  readonly #changes = new ComparedChanges();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  run<T>(step: Step<T>): Promise<T> {
    const { bucket } = step.wanted;
    if (bucket !== undefined) return this.#options.buckets.change(step, bucket);
    return this.#changes.run<T, Decided<T>>(step, {
      mostTogether,
      guess: () => this.#guess(step),
      decide: () => this.#decide(step),
      write: (decided) => this.#write(decided),
      writeEach: async (decided, tasks) => {
        const write = async (task: Replaced<TaskRow>) =>
          (await this.#write({ ...decided, change: { ...decided.change, tasks: [task] } })) ? [task] : [];
        return (await Promise.all(tasks.map(write))).flat();
      },
    });
  }

  /** The change, on what this process knows; undefined if that is not enough. */
  async #guess<T>(step: Step<T>): Promise<Decided<T> | undefined> {
    const { wanted } = step;
    const found = step.isMostlyIdle ? undefined : this.#known.find(wanted.tasks ?? []);
    if (!found || (wanted.webhooks && found.some(({ webhooks }) => !webhooks))) return undefined;
    const look = new Look();
    const tasks = namedIn(wanted).map(({ task, once }, n) => {
      const known = found[n] ?? absent;
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
    const names = [...(decided.wanted.tasks ?? []), ...Array.from(changed.values(), ({ name }) => name)];
    const writing = new Writing(db, by);
    try {
      await writing.add(change, changed, look);
      const { writes, marked, deleted, tasks } = writing;
      const { succeeded, revision, reads, isRepeated } = await groups({
        // A claim by a schedule writes the row of its queue, beside that of a task.
        to: [
          ...changed.keys(),
          ...(change.records ?? []).map((one) => changedRow(one).name),
          change.queue?.after?.queue ?? [],
        ].flat(),
        compare: [...this.#compares(decided, changed), unchanged(db.keys.frozen, 0)],
        writes,
        reads: [...[...marked, ...deleted].slice(0, 8), db.keys.frozen].map((key) => ({ key })),
        isAlone: writing.hasUploads || changed.size > 1 || (change.records?.length ?? 0) > 1,
      });
      const isFound = () =>
        reads.some(({ kvs }, n) => n < marked.length && String(kvs[0]?.value).includes(by)) ||
        (marked.length === 0 && reads.every(({ kvs }) => kvs.length === 0));
      if (!succeeded && !(isRepeated && isFound())) {
        this.#known.forget(names);
        mustTakeWrites(db.cluster, reads.at(-1));
        return false;
      }
      if (succeeded) for (const { name, known } of tasks) this.#known.set(name, writtenAt(known, revision));
      else this.#known.forget(names);
      for (const topic of change.notify ?? []) wakeups.announce(topic, revision);
      return true;
    } catch (error) {
      this.#known.forget(names);
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
    webhooks: isWritten ? { ...webhooks, revision } : task.row?.webhooks === 0 ? noWebhooks : webhooks,
  };
}

/** See `Rows.freeze`. Each transaction that writes compares that the key is not there. */
export async function freeze({ cluster, keys }: Database, ms: number): Promise<void> {
  const key = keys.frozen;
  const isForever = ms === Number.POSITIVE_INFINITY;
  const lease = isForever || ms <= 0 ? undefined : await cluster.grantLease(Math.ceil(ms / 1_000));
  await cluster.transact({ success: [ms > 0 ? { put: { key, value: '', lease } } : { delete: { key } }] });
}

/** Throws where the key was read. */
export function mustTakeWrites({ connections }: Cluster, frozen: RangeResponse | undefined): void {
  if (!frozen || frozen.kvs.length === 0) return;
  const message = `${connections.name} takes no writes: it is being copied to another store, or was`;
  throw new StoreError('UNAVAILABLE', message, { trouble: 'read-only' });
}
