import { diverged, parseFact, type Scope, type StoredFact, type StoredLog, StoreError } from '@batonjs/store';
import type { Database } from '../sql/database.ts';
import { type LongTexts, snapshotPieces } from '../sql/long-texts.ts';
import type { Transactions } from '../sql/transactions.ts';
import type { TaskRows } from './task-row.ts';

/** How long one slice of a read may block the event loop, in milliseconds. */
const sliceMs = 8;

/** How many characters a slice reads; one fact may be longer. In a Worker the clock stands still while code runs. */
const sliceLength = 1_000_000;

interface FactRow {
  readonly version: number;
  readonly commit_id: string;
  readonly fact: string;
}

/** Reads logs. A long log is read in slices, so that the event loop is not blocked. */
export class Facts {
  readonly #rows: TaskRows;
  readonly #texts: LongTexts;
  readonly #transactions: Transactions;
  readonly #snapshot;
  readonly #facts;
  readonly #commitId;

  constructor(db: Database, rows: TaskRows, texts: LongTexts, transactions: Transactions) {
    this.#rows = rows;
    this.#texts = texts;
    this.#transactions = transactions;
    this.#snapshot = db.prepare('SELECT version, snapshot FROM snapshots WHERE task = ?');
    this.#facts = db.prepare(
      `SELECT version, commit_id, fact FROM facts WHERE task = ? AND version > ? AND version <= ? ORDER BY version`,
    );
    this.#commitId = db.prepare('SELECT commit_id FROM facts WHERE task = ? AND version = ?');
  }

  async load(scope: Scope, taskId: string): Promise<StoredLog | undefined> {
    const start = await this.#transactions.read(() => {
      const row = this.#rows.find(scope, taskId);
      if (!row) return undefined;
      const snapshot = this.#snapshotOf(row.id);
      return { row, snapshot, facts: this.#slice(row.id, snapshot?.version ?? 0, row.version) };
    });
    if (!start) return undefined;
    const { row, snapshot, facts } = start;
    // Facts never change: those that a later slice reads up to this version existed when the first one was read.
    const all = await this.#rest(row.id, facts, snapshot?.version ?? 0, row.version);
    // The log was deleted meanwhile.
    if (all.length < row.version - (snapshot?.version ?? 0)) return undefined;
    return {
      head: JSON.parse(row.head),
      version: row.version,
      facts: all,
      ...(snapshot && { snapshot: JSON.parse(snapshot.snapshot) }),
    };
  }

  async read(
    scope: Scope,
    taskId: string,
    after: number,
    limit: number,
    lastCommitId?: string,
  ): Promise<StoredFact[]> {
    const start = await this.#transactions.read(() => {
      const row = this.#rows.find(scope, taskId);
      if (lastCommitId !== undefined && (row && this.#commitIdAt(row.id, after)) !== lastCommitId)
        throw diverged(taskId, after);
      if (!row || row.version <= after) return undefined;
      const last = Math.min(row.version, after + limit);
      return { id: row.id, last, facts: this.#slice(row.id, after, last) };
    });
    if (!start) return [];
    const { id, last, facts } = start;
    if (facts[0]?.version !== after + 1) {
      throw new StoreError('LOG_GAP', `The facts of task ${taskId} after ${after} are not kept any more`);
    }
    return this.#rest(id, facts, after, last);
  }

  #snapshotOf(task: number): { version: number; snapshot: string } | undefined {
    const found = this.#snapshot.get(task) as { version: number; snapshot: string } | undefined;
    return found && { ...found, snapshot: this.#texts.read(task, snapshotPieces, found.snapshot) };
  }

  #commitIdAt(task: number, version: number): string | undefined {
    return (this.#commitId.get(task, version) as { commit_id: string } | undefined)?.commit_id;
  }

  /** The remaining facts up to `last` after the first slice; fewer if the log was deleted meanwhile. */
  async #rest(task: number, facts: StoredFact[], after: number, last: number): Promise<StoredFact[]> {
    for (;;) {
      const end = facts.at(-1)?.version ?? after;
      if (end >= last) return facts;
      await this.#transactions.pause();
      const slice = await this.#transactions.read(() => this.#slice(task, end, last));
      if (slice.length === 0) return facts;
      for (const fact of slice) facts.push(fact);
    }
  }

  /** The facts after a position that one slice allows, at least one if there is any. */
  #slice(task: number, after: number, last: number): StoredFact[] {
    const end = performance.now() + sliceMs;
    const facts: StoredFact[] = [];
    let length = 0;
    for (const found of this.#facts.iterate(task, after, last)) {
      const { version, commit_id, fact } = found as unknown as FactRow;
      const text = this.#texts.read(task, version, fact);
      facts.push({ version, commitId: commit_id, fact: parseFact(text, version) });
      length += text.length;
      if (length > sliceLength || performance.now() > end) break;
    }
    return facts;
  }
}
