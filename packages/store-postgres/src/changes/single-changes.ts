import {
  type Change,
  changedRow,
  type Found,
  type KnownTasks,
  type Notification,
  type Step,
  type Wanted,
} from '@batonjs/store/adapter';
import { isIdle } from '@batonjs/store/rules';
import { momentAt, type Session } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import { isAboutValues } from '../database/postgres-error.ts';
import type { Transactions } from '../database/transactions.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import { foundBy, type SearchedAt, searchesOf, statementsOf } from '../tables/searches.ts';
import { Collected } from './collected.ts';
import type { Writer } from './writer.ts';

export interface SingleChangesOptions {
  readonly schema: string;
  readonly transactions: Transactions;
  readonly writer: Writer;
  readonly wakeups: Wakeups;
  readonly known: KnownTasks;
}

/** Looks without locks, and changes in a transaction or a statement each. */
export class SingleChanges {
  readonly #options: SingleChangesOptions;
  /**
   * No log that can be deleted ended before this time, as far as is known. The index keeps the entries of deleted logs until a
   * VACUUM: a search from its beginning would read all of them.
   */
  #endedFrom: number | undefined;

  constructor(options: SingleChangesOptions) {
    this.#options = options;
  }

  /** Finds the rows that are wanted, in one round trip. `now`: the moment to search at; without it, the database's clock. */
  async look(wanted: Wanted, now?: number): Promise<Found> {
    const { schema, transactions } = this.#options;
    const searches = searchesOf(schema, wanted, 'look', this.#at(now));
    const looked = await transactions.look(statementsOf(searches));
    return { ...momentAt(now ?? looked.now), ...foundBy(searches, looked.rows) };
  }

  /** A change that mostly writes nothing: looks without locks first. Resolves once it is committed. */
  async runIfAny<T>(step: Step<T>): Promise<T> {
    const found = await this.look(step.wanted);
    let change = step.decide(found);
    while ('decide' in change) change = change.decide(await this.look(change.wanted, found.now));
    if (isIdle(change)) return change.result;
    // One task needs no lock: it is compared with what was found. Of several, others may have written some.
    const isOfOne = change.tasks?.length === 1 && !change.queue && !change.webhooks && !change.records;
    if (isOfOne) {
      const collected = new Collected();
      collected.add(change);
      if ((await this.write(collected, [change])).has(change)) return change.result;
    }
    return this.run(step);
  }

  /**
   * Writes changes of tasks alone in one statement. Resolves to those whose tasks were as they were found: of the others
   * nothing is written, and nothing of any if one has what the database does not take.
   */
  async write(
    collected: Collected,
    changes: readonly Change<unknown>[],
  ): Promise<ReadonlySet<Change<unknown>>> {
    const { transactions, writer } = this.#options;
    const rows = await transactions.write(...writer.tasks(collected)).catch((error: unknown) => {
      if (error instanceof Error && isAboutValues(error.cause)) return [];
      throw error;
    });
    const keys = new Set(rows.map(({ key }) => key));
    const isWritten = ({ tasks = [] }: Change<unknown>) =>
      tasks.every((task) => {
        const { scope, taskId } = changedRow(task);
        return keys.has(keyOf(scope, taskId));
      });
    const written = changes.filter(isWritten);
    this.wrote(written, rows[0]?.is_heard === true);
    return new Set(written);
  }

  /** Resolves once the transaction is committed. */
  async run<T>(step: Step<T>): Promise<T> {
    const { schema, transactions, writer } = this.#options;
    const first = searchesOf(schema, step.wanted, 'lock', this.#at());
    const change = await transactions.run(async (session, now, opened) => {
      const moment = momentAt(now);
      let decision = step.decide({ ...moment, ...foundBy(first, opened) });
      while ('decide' in decision)
        decision = decision.decide({
          ...moment,
          ...(await this.#find(session, decision.wanted, now)),
        });
      const collected = new Collected();
      collected.add(decision);
      await writer.write(session, collected);
      return decision;
    }, statementsOf(first));
    this.wrote([change]);
    if (!step.wanted.ended) return change.result;
    const began = this.#endedFrom;
    this.#endedFrom = change.tasks?.at(-1)?.before?.endedAt;
    // The search began late. Once more from the beginning, for older logs that can be deleted now.
    return began !== undefined && this.#endedFrom === undefined ? this.run(step) : change.result;
  }

  /** What was written is known, and subscribers are told. `mayBeHeard`: false if no other process listened. */
  wrote(changes: readonly Change<unknown>[], mayBeHeard?: boolean): void {
    const { known, wakeups } = this.#options;
    const notify: Notification[] = [];
    for (const change of changes) {
      known.wrote(change);
      notify.push(...(change.notify ?? []));
    }
    wakeups.announce(notify, mayBeHeard);
  }

  #at(now?: number): SearchedAt {
    return { now, endedFrom: this.#endedFrom };
  }

  async #find(session: Session, wanted: Wanted, now: number): Promise<Partial<Found>> {
    const searches = searchesOf(this.#options.schema, wanted, 'lock', this.#at(now));
    const rows = [];
    for (const statement of statementsOf(searches)) rows.push(await session.query(statement));
    return foundBy(searches, rows);
  }
}
