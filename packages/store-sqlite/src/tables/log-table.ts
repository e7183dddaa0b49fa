import type { TaskWrite } from '@batonjs/store/adapter';
import type { Database } from '../sql/database.ts';
import { type LongTexts, snapshotPieces } from '../sql/long-texts.ts';

/** Writes facts, snapshots and `once` keys. Called inside the caller's transaction. */
export class LogTable {
  readonly #texts: LongTexts;
  readonly #findOnce;
  readonly #insertOnce;
  readonly #insertFact;
  readonly #putSnapshot;

  constructor(db: Database, texts: LongTexts) {
    this.#texts = texts;
    this.#findOnce = db.prepare('SELECT version FROM once_keys WHERE task = ? AND key = ?');
    this.#insertOnce = db.prepare('INSERT INTO once_keys (task, key, version) VALUES (?, ?, ?)');
    this.#insertFact = db.prepare('INSERT INTO facts (task, version, commit_id, fact) VALUES (?, ?, ?, ?)');
    this.#putSnapshot = db.prepare('REPLACE INTO snapshots (task, version, snapshot) VALUES (?, ?, ?)');
  }

  /** The position that is kept under a `once` key of a task. */
  usedAt(task: number, once: string): number | undefined {
    const found = this.#findOnce.get(task, once);
    return found && Number(found.version);
  }

  write(task: number, { before, facts, commitId = '', snapshot, once }: TaskWrite): void {
    let version = before?.version ?? 0;
    if (once !== undefined) this.#insertOnce.run(task, once, version + 1);
    for (const fact of facts ?? []) {
      version++;
      this.#insertFact.run(task, version, commitId, this.#texts.keep(task, version, fact));
    }
    if (!snapshot) return;
    this.#texts.forget(task, snapshotPieces);
    this.#putSnapshot.run(task, snapshot.version, this.#texts.keep(task, snapshotPieces, snapshot.json));
  }
}
