import {
  admit,
  type Commit,
  type Committed,
  factsInOrder,
  granted,
  mustHaveRoom,
  type Row,
} from '@batonjs/store';
import type { Changes } from '../notifications/changes.ts';
import type { Database } from '../sql/database.ts';
import { type LongTexts, snapshotPieces } from '../sql/long-texts.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import type { Contexts } from './contexts.ts';
import { type Moment, stateOf, type TaskRow, type TaskRows, toRow } from './task-row.ts';
import type { Totals } from './totals.ts';

/** The tables that a commit writes besides the facts. */
export interface CommitTables {
  readonly db: Database;
  readonly rows: TaskRows;
  readonly contexts: Contexts;
  readonly totals: Totals;
  readonly deliveries: Deliveries;
  readonly changes: Changes;
  readonly texts: LongTexts;
}

/** Writes commits. Called inside the caller's transaction. */
export class Commits {
  readonly #tables: CommitTables;
  readonly #findOnce;
  readonly #insertOnce;
  readonly #insertFact;
  readonly #putSnapshot;
  readonly #lastAt;

  constructor(tables: CommitTables) {
    this.#tables = tables;
    const { db } = tables;
    this.#findOnce = db.prepare('SELECT version FROM once_keys WHERE task = ? AND key = ?');
    this.#insertOnce = db.prepare('INSERT INTO once_keys (task, key, version) VALUES (?, ?, ?)');
    this.#insertFact = db.prepare('INSERT INTO facts (task, version, commit_id, fact) VALUES (?, ?, ?, ?)');
    // The row of a long fact holds `[pieces, at]` (see `LongTexts`). A damaged fact has no time.
    this.#lastAt = db.prepare(
      `SELECT CASE WHEN json_valid(fact) THEN coalesce(fact ->> 'at', fact ->> 1) END AS at FROM facts WHERE task = ? AND version = ?`,
    );
    this.#putSnapshot = db.prepare('REPLACE INTO snapshots (task, version, snapshot) VALUES (?, ?, ?)');
  }

  /**
   * Returns the function that writes the commit, given the time. It throws a refusal before it changes anything. The
   * caller may change the commit's facts, head and snapshot meanwhile.
   */
  prepare(commit: Commit): (at: Moment) => Committed {
    const facts = commit.facts.map((fact) => JSON.stringify(fact));
    const snapshot = commit.snapshot && {
      version: commit.snapshot.version,
      json: JSON.stringify(commit.snapshot),
    };
    const kept: Commit = { ...commit, facts: [...commit.facts], head: commit.head && { ...commit.head } };
    return (at) => {
      const { scope, taskId, commitId, once } = kept;
      const found = this.#tables.rows.find(scope, taskId);
      const repeated = found && once !== undefined && this.#findOnce.get(found.id, once);
      if (repeated) return { version: Number(repeated.version), repeated: true };
      const before = found && toRow(found);
      const after = admit(before, kept, at.leaseNow);
      mustHaveRoom(after, kept, (queue) => this.#tables.rows.waiting(queue));

      const hasPush = found ? found.has_push === 1 : this.#tables.deliveries.any(scope, taskId);
      const id = found
        ? this.#change(found, before!, after, at)
        : this.#create(scope, taskId, after, hasPush, at);
      let version = found?.version ?? 0;
      if (once !== undefined) this.#insertOnce.run(id, once, version + 1);
      const inOrder = kept.expectedVersion === 'open' ? this.#inOrder(id, version, facts) : facts;
      const { texts } = this.#tables;
      for (const fact of inOrder) {
        version++;
        this.#insertFact.run(id, version, commitId, texts.keep(id, version, fact));
      }
      if (snapshot) {
        texts.forget(id, snapshotPieces);
        this.#putSnapshot.run(id, snapshot.version, texts.keep(id, snapshotPieces, snapshot.json));
      }
      this.#touch(kept, after, hasPush, at.now);
      return { version, lease: granted(after, kept) };
    };
  }

  /** The facts of an open append, none earlier than the last fact of the log. */
  #inOrder(task: number, version: number, facts: readonly string[]): readonly string[] {
    const last = this.#lastAt.get(task, version) as { at: string | null } | undefined;
    const parsed = facts.map((fact) => JSON.parse(fact));
    return factsInOrder({ expectedVersion: 'open', facts: parsed }, last?.at ?? undefined).map((fact) =>
      JSON.stringify(fact),
    );
  }

  #create(scope: string, taskId: string, after: Row, hasPush: boolean, at: Moment): number {
    const { rows, contexts, totals } = this.#tables;
    const state = stateOf(after.head);
    const context = contexts.enter(scope, after.head.contextId, countOf(state));
    totals.add(scope, state, 1);
    return rows.insert(scope, taskId, after, context, hasPush, at);
  }

  #change(found: TaskRow, before: Row, after: Row, at: Moment): number {
    const { rows, contexts, totals } = this.#tables;
    const { scope, state: was } = found;
    const state = stateOf(after.head);
    if (state !== was) {
      totals.add(scope, was, -1);
      totals.add(scope, state, 1);
    }
    const moved = before.head.contextId !== after.head.contextId;
    if (!moved && countOf(state) === countOf(was)) {
      rows.update(found, after, found.context, at);
    } else {
      contexts.leave(found.context, countOf(was));
      rows.update(found, after, contexts.enter(scope, after.head.contextId, countOf(state)), at);
      if (moved) contexts.deleteUnused(found.context);
    }
    return found.id;
  }

  #touch({ scope, taskId, facts, turn }: Commit, after: Row, hasPush: boolean, now: number): void {
    const { changes, deliveries } = this.#tables;
    if (facts.length > 0) {
      changes.touch({ scope, taskId }, after.version);
      if (hasPush) deliveries.plan(scope, taskId, now);
    }
    const { queue, holder, wanted } = after;
    if (turn?.want && wanted && holder === undefined && queue !== undefined) changes.touch({ queue });
  }
}

/** Logs that never became a task are not counted as tasks. */
const countOf = (state: string): 0 | 1 => (state === '' ? 0 : 1);
