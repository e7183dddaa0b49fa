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
export function logsOf(
  { db, tasks, longTexts }: { db: Database; tasks: TaskTable; longTexts: LongTexts },
  { read, pause }: Transactions,
) {
  const snapshots = db.prepare('SELECT version, snapshot FROM snapshots WHERE task = ?');
  const any = db.prepare('SELECT 1 FROM tasks WHERE id = ?');
  const factsIn = db.prepare(
    `SELECT version, commit_id, fact FROM facts WHERE task = ? AND version > ? AND version <= ? ORDER BY version`,
  );

  function snapshotOf(task: number): { version: number; snapshot: string } | undefined {
    const found = snapshots.get(task);
    if (!found) return undefined;
    const snapshot = longTexts.read(task, snapshotPieces, String(found.snapshot));
    return { version: Number(found.version), snapshot };
  }

  /** The facts up to `last`, those of the first slice included; undefined if the log was deleted meanwhile. */
  async function rest(
    task: number,
    facts: StoredFact[],
    after: number,
    last: number,
  ): Promise<StoredFact[] | undefined> {
    for (;;) {
      const end = facts.at(-1)?.version ?? after;
      if (end >= last) return facts;
      await pause();
      const some = await read(() => slice(task, end, last));
      if (some.length === 0) return (await read(() => any.get(task) !== undefined)) ? facts : undefined;
      for (const fact of some) facts.push(fact);
    }
  }

  /** The facts after a position that one slice allows, at least one if there is any. */
  function slice(task: number, after: number, last: number): StoredFact[] {
    const end = performance.now() + sliceMs;
    const facts: StoredFact[] = [];
    let length = 0;
    for (const found of factsIn.iterate(task, after, last)) {
      const version = Number(found.version);
      const text = longTexts.read(task, version, String(found.fact));
      facts.push({ version, commitId: String(found.commit_id), fact: parseFact(text, version) });
      length += text.length;
      if (length > sliceLength || performance.now() > end) break;
    }
    return facts;
  }

  return {
    async log(scope: Scope, taskId: string): Promise<KeptLog | undefined> {
      const start = await read(() => {
        const row = tasks.find({ scope, taskId });
        if (!row) return undefined;
        const snapshot = snapshotOf(row.id);
        return { row, snapshot, facts: slice(row.id, snapshot?.version ?? 0, row.version) };
      });
      if (!start) return undefined;
      const { row, snapshot } = start;
      // Facts never change: those that a later slice reads up to this version existed when the first one was read.
      const facts = await rest(row.id, start.facts, snapshot?.version ?? 0, row.version);
      return facts && { row, snapshot: snapshot && JSON.parse(snapshot.snapshot), facts };
    },
    async facts(scope: Scope, taskId: string, after: number, limit: number): Promise<KeptFacts> {
      const start = await read(() => {
        const row = tasks.find({ scope, taskId });
        if (!row) return undefined;
        const { id, version } = row;
        const last = Math.min(version, after + limit);
        return { id, version, last, facts: slice(id, after, last) };
      });
      if (!start) return { version: 0, facts: [] };
      const { id, version, last, facts } = start;
      await rest(id, facts, after, last);
      return { version, facts };
    },
  };
}
