import type { Scope, StoredFact } from '@batonjs/store';
import { type KeptFacts, type KeptLog, parseFact } from '@batonjs/store/adapter';
import type { Database, Transactions } from '../sql/database.ts';
import { type LongTexts, snapshotPieces } from '../sql/long-texts.ts';
import type { TaskTable } from './task-table.ts';

/** How long one slice of a read may block the event loop, in milliseconds. */
const sliceMs = 8;

/** How many characters a slice reads; one fact may be longer. In a Worker the clock stands still while code runs. */
const sliceLength = 1_000_000;

/** Reads logs. A long log is read in slices, so that the event loop is not blocked. */
export class Logs {
  readonly #tasks: TaskTable;
  readonly #texts: LongTexts;
  readonly #transactions: Transactions;
  readonly #snapshot;
  readonly #facts;
  readonly #any;

  constructor(db: Database, tasks: TaskTable, texts: LongTexts, transactions: Transactions) {
    this.#tasks = tasks;
    this.#texts = texts;
    this.#transactions = transactions;
    this.#snapshot = db.prepare('SELECT version, snapshot FROM snapshots WHERE task = ?');
    this.#any = db.prepare('SELECT 1 FROM tasks WHERE id = ?');
    this.#facts = db.prepare(
      `SELECT version, commit_id, fact FROM facts WHERE task = ? AND version > ? AND version <= ? ORDER BY version`,
    );
  }

  async log(scope: Scope, taskId: string): Promise<KeptLog | undefined> {
    const start = await this.#transactions.read(() => {
      const row = this.#tasks.find({ scope, taskId });
      if (!row) return undefined;
      const snapshot = this.#snapshotOf(row.id);
      return { row, snapshot, facts: this.#slice(row.id, snapshot?.version ?? 0, row.version) };
    });
    if (!start) return undefined;
    const { row, snapshot } = start;
    // Facts never change: those that a later slice reads up to this version existed when the first one was read.
    const facts = await this.#rest(row.id, start.facts, snapshot?.version ?? 0, row.version);
    const isGone = facts === undefined;
    return isGone ? undefined : { row, snapshot: snapshot && JSON.parse(snapshot.snapshot), facts };
  }

  async facts(scope: Scope, taskId: string, after: number, limit: number): Promise<KeptFacts> {
    const start = await this.#transactions.read(() => {
      const row = this.#tasks.find({ scope, taskId });
      if (!row) return undefined;
      const { id, version } = row;
      const last = Math.min(version, after + limit);
      return { id, version, last, facts: this.#slice(id, after, last) };
    });
    if (!start) return { version: 0, facts: [] };
    const { id, version, last, facts } = start;
    await this.#rest(id, facts, after, last);
    return { version, facts };
  }

  #snapshotOf(task: number): { version: number; snapshot: string } | undefined {
    const found = this.#snapshot.get(task);
    if (!found) return undefined;
    const snapshot = this.#texts.read(task, snapshotPieces, String(found.snapshot));
    return { version: Number(found.version), snapshot };
  }

  /** The facts up to `last`, those of the first slice included; undefined if the log was deleted meanwhile. */
  async #rest(
    task: number,
    facts: StoredFact[],
    after: number,
    last: number,
  ): Promise<StoredFact[] | undefined> {
    for (;;) {
      const end = facts.at(-1)?.version ?? after;
      if (end >= last) return facts;
      await this.#transactions.pause();
      const slice = await this.#transactions.read(() => this.#slice(task, end, last));
      if (slice.length === 0) return (await this.#isThere(task)) ? facts : undefined;
      for (const fact of slice) facts.push(fact);
    }
  }

  #isThere(task: number): Promise<boolean> {
    return this.#transactions.read(() => this.#any.get(task) !== undefined);
  }

  /** The facts after a position that one slice allows, at least one if there is any. */
  #slice(task: number, after: number, last: number): StoredFact[] {
    const end = performance.now() + sliceMs;
    const facts: StoredFact[] = [];
    let length = 0;
    for (const found of this.#facts.iterate(task, after, last)) {
      const version = Number(found.version);
      const text = this.#texts.read(task, version, String(found.fact));
      facts.push({ version, commitId: String(found.commit_id), fact: parseFact(text, version) });
      length += text.length;
      if (length > sliceLength || performance.now() > end) break;
    }
    return facts;
  }
}
