import type { Scope } from '@batonjs/store';
import { wordsOf } from '@batonjs/store/sql';
import type { Database } from '../sql/database.ts';

/** The table `task_texts`, where there is one. Its rows are deleted by a trigger. */
export class Texts {
  /** Whether the database had the table when it was opened. */
  readonly areKept: boolean;
  readonly #insert;

  constructor(db: Database) {
    const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'task_texts'");
    this.areKept = table.get() !== undefined;
    this.#insert = this.areKept
      ? db.prepare('INSERT INTO task_texts (rowid, words) VALUES (?, ?)')
      : undefined;
  }

  /** Keeps the words of a new task. Called inside the caller's transaction. */
  keep(task: number, scope: Scope, text: string): void {
    if (!this.#insert) return;
    const words = wordsOf(text);
    if (words.length > 0) this.#insert.run(task, [markOf(scope), ...words].join(' '));
  }

  /** Matches tasks of a scope, and perhaps of others with its mark, that have words with these prefixes. */
  matching(scope: Scope, prefixes: readonly string[]): string {
    return [`"${markOf(scope)}"`, ...prefixes.map((one) => `"${one}"*`)].join(' AND ');
  }
}

/** Lets the index look at one scope first: two scopes rarely have the same. */
function markOf(scope: Scope): string {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < scope.length; at++) hash = Math.imul(hash ^ scope.charCodeAt(at), 0x01_00_01_93);
  return `=${(hash >>> 0).toString(36)}`;
}
