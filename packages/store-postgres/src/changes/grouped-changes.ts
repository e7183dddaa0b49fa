import { type Change, Group, type KnownTasks, type Notification, type Step } from '@batonjs/store/adapter';
import type { DatabaseRow, Session } from '../database/database.ts';
import { isAboutValues } from '../database/postgres-error.ts';
import type { Transactions } from '../database/transactions.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import { searchesOf, statementsOf } from '../tables/searches.ts';
import { GroupTransaction, type Outcome, type Pending } from './group-transaction.ts';
import { Guess } from './guess.ts';
import { NamedTasks, named, ReadTasks } from './named-tasks.ts';
import type { Writer } from './writer.ts';

export interface GroupedChangesOptions {
  readonly schema: string;
  readonly transactions: Transactions;
  readonly writer: Writer;
  readonly wakeups: Wakeups;
  readonly known: KnownTasks;
  /** Called with the number of commits of each transaction. */
  readonly onGroup: ((size: number) => void) | undefined;
}

// More of them would keep rows locked for too long.
const largestGroup = 256;

/**
 * Changes of tasks and records by name. Those that arrive while a transaction runs share the next one, and are decided one after the
 * other. A change that is refused fails alone; a database that fails fails them all.
 */
export class GroupedChanges {
  readonly #options: GroupedChangesOptions;
  readonly #tasks: NamedTasks;
  readonly #group = new Group<Pending['item']>({
    most: largestGroup,
    run: (group) => this.#run(group),
    // One change has what the database does not take: each is tried again on its own, so that it fails alone.
    isOfOne: (error) => error instanceof Error && isAboutValues(error.cause),
  });

  constructor(options: GroupedChangesOptions) {
    this.#options = options;
    this.#tasks = new NamedTasks(options.schema);
  }

  /** Resolves once the transaction is committed. */
  run<T>(step: Step<T>): Promise<T> {
    const { tasks = [] } = step.wanted;
    return this.#group.run({ step, tasks: tasks.map(named) }) as Promise<T>;
  }

  /** Returns the steps that did not fit into the transaction. */
  async #run(group: readonly Pending[]): Promise<readonly Pending[]> {
    const left = await this.#writeKnown(group);
    return left.length > 0 ? this.#transact(left) : left;
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
    const names = [...changes.keys()].flatMap(({ item }) => item.step.wanted.tasks ?? []);
    let isHeard = false;
    try {
      const rows = await transactions.write(...writer.tasks(collected));
      isHeard = rows[0]?.is_heard === true;
      const written = new Set(rows.map(({ key }) => String(key)));
      for (const [pending] of changes)
        if (!pending.item.tasks.every(({ key }) => written.has(key))) changes.delete(pending);
    } catch (error) {
      known.forget(names);
      // It is found out whose values the database does not take.
      if (error instanceof Error && isAboutValues(error.cause)) return group;
      for (const { reject } of changes.keys()) reject(error);
      return group.filter((pending) => !changes.has(pending));
    }
    known.forget(names);
    this.#resolve(changes, isHeard);
    onGroup?.(changes.size);
    return group.filter((pending) => !changes.has(pending));
  }

  #resolve(changes: Iterable<readonly [Pending, Change<unknown>]>, mayBeHeard?: boolean): void {
    const { known, wakeups } = this.#options;
    const notify: Notification[] = [];
    for (const [{ resolve }, change] of changes) {
      known.wrote(change);
      resolve(change.result);
      if (change.notify) notify.push(...change.notify);
    }
    wakeups.announce(notify, mayBeHeard);
  }

  /** Returns the steps at the end of the group that did not fit into the transaction. */
  async #transact(group: readonly Pending[]): Promise<readonly Pending[]> {
    const { schema, transactions, onGroup } = this.#options;
    const others = othersOf(schema, group);
    const keys = new Set(group.flatMap(({ item }) => item.tasks.map(({ key }) => key)));
    const outcomes = await transactions.run(
      (session, now, opened) => this.#decideAll(session, now, opened, group, others),
      [this.#tasks.tasks([...keys], 'lock'), ...statementsOf(others.searches)],
    );
    for (const outcome of outcomes) if ('refusal' in outcome) outcome.pending.reject(outcome.refusal);
    this.#resolve(outcomes.flatMap((one) => ('change' in one ? [[one.pending, one.change] as const] : [])));
    onGroup?.(outcomes.length);
    return group.slice(outcomes.length);
  }

  async #decideAll(
    session: Session,
    now: number,
    [rows = [], ...more]: readonly (readonly DatabaseRow[])[],
    group: readonly Pending[],
    others: Others,
  ): Promise<Outcome[]> {
    const known = new ReadTasks();
    known.addRows(rows);
    await this.#readMore(session, known, group);
    const found = others.searches.map(({ found: read }, n) => read([more[n] ?? []]));
    const records = new Map(others.records.map((name, n) => [name, found[0]?.records?.[n]]));
    const counts = found.slice(-others.queues.length);
    const waiting = new Map(others.queues.map((queue, n) => [queue, counts[n]?.waiting ?? 0]));
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
    if (hooked.length > 0 && group.some(({ item }) => item.step.wanted.webhooks))
      known.addWebhooks(await session.query(this.#tasks.webhooks(hooked, 'lock')));
    const once = group
      .flatMap(({ item }) => item.tasks)
      .filter(({ key, onceKey }) => onceKey !== undefined && known.rows.has(key));
    if (once.length > 0) known.addOnce(await session.query(this.#tasks.onceKeys(once)));
  }
}

/** What a group wants beside its tasks, each once: the records are one search, and each bounded queue is one. */
function othersOf(schema: string, group: readonly Pending[]) {
  const records = [...new Set(group.flatMap(({ item }) => item.step.wanted.records ?? []))];
  const queues = [...new Set(group.flatMap(({ item }) => item.step.wanted.waiting?.queue ?? []))];
  const wanted = [
    ...(records.length > 0 ? [{ records }] : []),
    ...queues.map((queue) => ({ waiting: { queue } })),
  ];
  return { records, queues, searches: wanted.flatMap((one) => searchesOf(schema, one, 'lock')) };
}

type Others = ReturnType<typeof othersOf>;
