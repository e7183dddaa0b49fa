import type { Found, KnownTasks, Step, Wanted } from '@batonjs/store/adapter';
import { isIdle } from '@batonjs/store/rules';
import { momentAt, type Session } from '../database/database.ts';
import type { Transactions } from '../database/transactions.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import { foundBy, type SearchedAt, searchesOf, statementsOf } from '../tables/searches.ts';
import { Collected } from './collected.ts';
import { NamedTasks } from './named-tasks.ts';
import type { Writer } from './writer.ts';

export interface SearchedChangesOptions {
  readonly schema: string;
  readonly transactions: Transactions;
  readonly writer: Writer;
  readonly wakeups: Wakeups;
  readonly known: KnownTasks;
}

/** Looks without locks, and changes that search for their rows. */
export class SearchedChanges {
  readonly #options: SearchedChangesOptions;
  readonly #tasks: NamedTasks;
  /**
   * No log that can be deleted ended before this time, as far as is known. The index keeps the entries of deleted logs until a
   * VACUUM: a search from its beginning would read all of them.
   */
  #endedFrom: number | undefined;

  constructor(options: SearchedChangesOptions) {
    this.#options = options;
    this.#tasks = new NamedTasks(options.schema);
  }

  /** Finds the rows that are wanted, in one round trip. `now`: the moment to search at; without it, the database's clock. */
  async look(wanted: Wanted, now?: number): Promise<Found> {
    const { schema, transactions } = this.#options;
    const { tasks, webhooks = false } = wanted;
    const searches = [
      ...(tasks ? [this.#tasks.search(tasks, webhooks)] : []),
      ...searchesOf(schema, wanted, 'look', this.#at(now)),
    ];
    const looked = await transactions.look(statementsOf(searches));
    return { ...momentAt(now ?? looked.now), ...foundBy(searches, looked.rows) };
  }

  /** The result of a step that would change nothing, found without locks; undefined if it would. */
  async idle<T>(step: Step<T>): Promise<{ readonly result: T } | undefined> {
    const found = await this.look(step.wanted);
    let decision = step.decide(found);
    while ('decide' in decision) decision = decision.decide(await this.look(decision.wanted, found.now));
    return isIdle(decision) ? decision : undefined;
  }

  /** Resolves once the transaction is committed. */
  async run<T>(step: Step<T>): Promise<T> {
    const { schema, transactions, writer, wakeups, known } = this.#options;
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
    known.wrote(change);
    wakeups.announce(change.notify ?? []);
    if (!step.wanted.ended) return change.result;
    const began = this.#endedFrom;
    this.#endedFrom = change.tasks?.at(-1)?.before?.endedAt;
    // The search began late. Once more from the beginning, for older logs that can be deleted now.
    return began !== undefined && this.#endedFrom === undefined ? this.run(step) : change.result;
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
