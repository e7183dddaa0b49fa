import {
  type Change,
  changedRow,
  changeOf,
  type Found,
  guessed,
  isIdle,
  type KnownTasks,
  type Moment,
  type Notification,
  type RecordRow,
  recordOfSql,
  type Step,
  StoreError,
  type TaskRow,
} from '@batonjs/store';
import { type DatabaseRow, momentAt, type Session } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import { isAboutValues } from '../database/postgres-error.ts';
import type { Transactions } from '../database/transactions.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import { recordsNamed, waitingKey } from '../tables/searches.ts';
import { Collected } from './collected.ts';
import { type NamedTask, NamedTasks, named, ReadTasks } from './named-tasks.ts';
import type { Writer } from './writer.ts';

/** A step that waits for its transaction. */
interface Pending {
  readonly step: Step<unknown>;
  readonly tasks: readonly NamedTask[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What a step of the group comes to. */
type Outcome = { readonly pending: Pending } & (
  | { readonly change: Change<unknown> }
  | { readonly refusal: StoreError }
);

export interface GroupedChangesOptions {
  readonly schema: string;
  readonly transactions: Transactions;
  readonly writer: Writer;
  readonly wakeups: Wakeups;
  readonly known: KnownTasks;
  /** Called with the number of commits of each transaction. */
  readonly onGroup: ((size: number) => void) | undefined;
}

// More of them, or longer ones, would keep rows locked for too long. The facts of all are one string on the wire, and
// a string cannot have more than half a gigabyte.
const largestGroup = 256;
const mostCharacters = 4 * 1024 * 1024;

/**
 * Changes of tasks and records by name. Those that arrive while a transaction runs share the next one, and are decided one after the
 * other. A change that is refused fails alone; a database that fails fails them all.
 */
export class GroupedChanges {
  readonly #options: GroupedChangesOptions;
  readonly #tasks: NamedTasks;
  #waiting: Pending[] = [];
  #running = false;

  constructor(options: GroupedChangesOptions) {
    this.#options = options;
    this.#tasks = new NamedTasks(options.schema);
  }

  /** Resolves once the transaction is committed. */
  run<T>(step: Step<T>): Promise<T> {
    const { tasks = [] } = step.wanted;
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ step, tasks: tasks.map(named), resolve, reject });
      if (this.#running) return;
      this.#running = true;
      // After all callbacks of this round of the event loop, so that their changes form one group.
      setImmediate(() => void this.#flush());
    }) as Promise<T>;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, largestGroup);
      const left = await this.#writeKnown(group);
      if (left.length > 0) this.#waiting = [...(await this.#transact(left)), ...this.#waiting];
    }
    this.#running = false;
  }

  /**
   * Decides on the tasks as this process wrote them last, and writes in one statement. Returns, in their order, the steps
   * that cannot be decided so, and those whose tasks another process has written meanwhile: of these nothing is written.
   */
  async #writeKnown(group: readonly Pending[]): Promise<readonly Pending[]> {
    const { transactions, writer, known, onGroup } = this.#options;
    const guess = new Guess(known, transactions.clock.moment());
    for (const pending of group) guess.add(pending);
    const { changes, collected } = guess;
    if (changes.size === 0) return group;
    const names = [...changes.keys()].flatMap(({ step }) => step.wanted.tasks ?? []);
    try {
      const rows = await transactions.write(...writer.tasks(collected));
      const written = new Set(rows.map(({ key }) => String(key)));
      for (const [pending] of changes)
        if (!pending.tasks.every(({ key }) => written.has(key))) changes.delete(pending);
    } catch (error) {
      known.forget(names);
      // It is found out whose values the database does not take.
      if (error instanceof Error && isAboutValues(error.cause)) return group;
      for (const { reject } of changes.keys()) reject(error);
      return group.filter((pending) => !changes.has(pending));
    }
    known.forget(names);
    this.#resolve(changes);
    onGroup?.(changes.size);
    return group.filter((pending) => !changes.has(pending));
  }

  #resolve(changes: Iterable<readonly [Pending, Change<unknown>]>): void {
    const { known, wakeups } = this.#options;
    const notify: Notification[] = [];
    for (const [{ resolve }, change] of changes) {
      known.wrote(change);
      resolve(change.result);
      if (change.notify) notify.push(...change.notify);
    }
    wakeups.announce(notify);
  }

  /** Returns the steps at the end of the group that did not fit into the transaction. */
  async #transact(group: readonly Pending[]): Promise<readonly Pending[]> {
    const { transactions, onGroup } = this.#options;
    let outcomes: readonly Outcome[];
    try {
      outcomes = await transactions.run(
        (session, now, opened) => this.#decideAll(session, now, opened, group),
        this.#opening(group),
      );
    } catch (error) {
      // One change has what the database does not take: each is tried again on its own, so that it fails alone.
      if (group.length > 1 && error instanceof Error && isAboutValues(error.cause)) {
        for (const one of group) await this.#transact([one]);
      } else for (const { reject } of group) reject(error);
      return [];
    }
    for (const outcome of outcomes) if ('refusal' in outcome) outcome.pending.reject(outcome.refusal);
    this.#resolve(outcomes.flatMap((one) => ('change' in one ? [[one.pending, one.change] as const] : [])));
    onGroup?.(outcomes.length);
    return group.slice(outcomes.length);
  }

  /** The statements to run first: they lock the tasks of the group, its records, and count what waits in queues that are bounded. */
  #opening(group: readonly Pending[]): string[] {
    const { schema } = this.#options;
    const keys = new Set(group.flatMap(({ tasks }) => tasks.map(({ key }) => key)));
    const queues = new Set(group.flatMap(({ step }) => step.wanted.waiting?.queue ?? []));
    const records = recordsIn(group);
    const counted = Array.from(queues, waitingKey);
    const count = `SELECT key, sum(tasks) AS tasks FROM ${schema}.counts
      WHERE key = ANY('{${counted}}'::text[]) GROUP BY key`;
    return [
      this.#tasks.tasks([...keys], 'lock'),
      ...(records.length > 0 ? [recordsNamed(schema, records, 'lock')] : []),
      ...(queues.size > 0 ? [count] : []),
    ];
  }

  async #decideAll(
    session: Session,
    now: number,
    [rows = [], ...more]: readonly (readonly DatabaseRow[])[],
    group: readonly Pending[],
  ): Promise<Outcome[]> {
    const known = new ReadTasks();
    known.addRows(rows);
    await this.#readMore(session, known, group);
    const [named = [], counts = []] = recordsIn(group).length > 0 ? more : [[], ...more];
    const records = new Map(named.map((row) => [String(row.name), recordOfSql(row)]));
    const waiting = new Map(counts.map(({ key, tasks }) => [String(key), Number(tasks)]));
    const transaction = new GroupTransaction(known, records, waiting, now);
    const outcomes: Outcome[] = [];
    for (const pending of group) {
      const outcome = transaction.decide(pending);
      if (outcome === 'full') break;
      outcomes.push(outcome);
    }
    await this.#options.writer.write(session, transaction.collected);
    return outcomes;
  }

  /** What a task without a row does not have. */
  async #readMore(session: Session, known: ReadTasks, group: readonly Pending[]): Promise<void> {
    const hooked = [...known.rows].filter(([, { webhooks }]) => webhooks > 0).map(([key]) => key);
    if (hooked.length > 0 && group.some(({ step }) => step.wanted.webhooks))
      known.addWebhooks(await session.query(this.#tasks.webhooks(hooked, 'lock')));
    const once = group
      .flatMap(({ tasks }) => tasks)
      .filter(({ key, onceKey }) => onceKey !== undefined && known.rows.has(key));
    if (once.length > 0) known.addOnce(await session.query(this.#tasks.onceKeys(once)));
  }
}

/** The records that a group wants, each once. */
const recordsIn = (group: readonly Pending[]): string[] => [
  ...new Set(group.flatMap(({ step }) => step.wanted.records ?? [])),
];

/** The changes of steps that can be decided on what this process knows of their tasks. */
class Guess {
  readonly collected = new Collected();
  readonly changes = new Map<Pending, Change<unknown>>();
  readonly #known: KnownTasks;
  readonly #moment: Moment | undefined;
  /** The keys of tasks that an earlier step of the group wants. */
  readonly #wanted = new Set<string>();

  constructor(known: KnownTasks, moment: Moment | undefined) {
    this.#known = known;
    this.#moment = moment;
  }

  add(pending: Pending): void {
    const isFirst = !pending.tasks.some(({ key }) => this.#wanted.has(key));
    for (const { key } of pending.tasks) this.#wanted.add(key);
    const change = isFirst ? this.#changeOf(pending) : undefined;
    if (!change) return;
    this.changes.set(pending, change);
    this.collected.add(change);
  }

  #changeOf({ step, tasks: named }: Pending): Change<unknown> | undefined {
    const { records, waiting, tasks: wanted = [] } = step.wanted;
    const tasks = records ? undefined : this.#known.find(wanted);
    // The keys and the webhooks of a task that has some are not known.
    if (!this.#moment || !tasks || tasks.some(({ row }, n) => row && (row.webhooks > 0 || named[n]?.onceKey)))
      return undefined;
    // How many wait is not known: a task that would wait does not fit.
    const found = { ...this.#moment, tasks, waiting: waiting && Number.POSITIVE_INFINITY };
    const change = guessed(step, found);
    const isWhole = change?.tasks?.length === tasks.length && change.tasks.every(({ after }) => after);
    if (!isWhole || change.webhooks || change.queue || change.callers || change.records) return undefined;
    // A task without a row may be one that this process does not know: then there is nothing to compare.
    if (change.tasks?.some(({ before, facts = [] }) => !before && facts.length === 0)) return undefined;
    const { characters } = this.collected;
    return characters > 0 && characters + charactersOf(change) > mostCharacters ? undefined : change;
  }
}

/** Decides the changes of one transaction one after the other, in memory, and collects their writes. */
class GroupTransaction {
  readonly collected = new Collected();
  readonly #known: ReadTasks;
  readonly #records: Map<string, RecordRow | undefined>;
  /** How many tasks wait, by the key of the queue. */
  readonly #waiting: Map<string, number>;
  /** The keys of tasks that it writes, and of those that it deletes. None is both: its rows in other tables are not. */
  readonly #written = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #now: number;

  constructor(
    known: ReadTasks,
    records: Map<string, RecordRow | undefined>,
    waiting: Map<string, number>,
    now: number,
  ) {
    this.#known = known;
    this.#records = records;
    this.#waiting = waiting;
    this.#now = now;
  }

  /** `'full'`: the changes so far and this one are too long for one statement, or one deletes a task that the other writes. */
  decide(pending: Pending): Outcome | 'full' {
    const { step, tasks } = pending;
    const { wanted } = step;
    if (tasks.some(({ key }) => this.#deleted.has(key))) return 'full';
    const found: Found = {
      ...momentAt(this.#now),
      tasks: tasks.map((task) => this.#known.find(task, wanted.webhooks === true)),
      records: wanted.records?.map((name) => this.#records.get(name)),
      waiting: wanted.waiting && (this.#waiting.get(waitingKey(wanted.waiting.queue)) ?? 0),
    };
    try {
      const change = changeOf(step, found);
      const before = this.collected.characters;
      if (change.tasks?.some(({ after }) => !after) && tasks.some(({ key }) => this.#written.has(key)))
        return 'full';
      if (before > 0 && before + charactersOf(change) > mostCharacters) return 'full';
      if (!isIdle(change)) this.#apply(change);
      return { pending, change };
    } catch (error) {
      if (!StoreError.is(error)) throw error;
      return { pending, refusal: error };
    }
  }

  #apply(change: Change<unknown>): void {
    this.collected.add(change);
    for (const write of change.tasks ?? []) {
      const { before, after, once } = write;
      const { scope, taskId } = changedRow(write);
      const key = keyOf(scope, taskId);
      (after ? this.#written : this.#deleted).add(key);
      if (after) this.#known.rows.set(key, after);
      if (once !== undefined) this.#known.use(key, keyOf(once), (before?.version ?? 0) + 1);
      this.#count(before, -1);
      this.#count(after, 1);
    }
    for (const webhook of change.webhooks ?? []) this.#known.replaceWebhook(webhook);
    for (const record of change.records ?? []) this.#records.set(changedRow(record).name, record.after);
  }

  #count(row: TaskRow | undefined, tasks: number): void {
    if (row?.waitingSince === undefined || row.queue === undefined) return;
    const key = waitingKey(row.queue);
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + tasks);
  }
}

const charactersOf = ({ tasks = [] }: Change<unknown>): number =>
  tasks.reduce(
    (sum, { facts = [], snapshot }) =>
      facts.reduce((all, fact) => all + fact.length, sum + (snapshot?.json.length ?? 0)),
    0,
  );
