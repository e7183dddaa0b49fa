import type { Database } from './database.ts';

/** The `version` of the rows of `pieces` that hold a snapshot. Facts begin at 1. */
export const snapshotPieces = 0;

export type LongTexts = ReturnType<typeof longTextsOf>;

/**
 * Keeps texts that are longer than a value of the database may be, in pieces. The row of the text then holds a JSON
 * array: the number of pieces. Other rows hold JSON objects. `longest`: how many characters a value may have, of up to 3
 * bytes each. Default: any number.
 */
export function longTextsOf(db: Database, longest = Number.POSITIVE_INFINITY) {
  const insert = db.prepare('INSERT INTO pieces (task, version, piece, text) VALUES (?, ?, ?, ?)');
  const readStatement = db.prepare('SELECT text FROM pieces WHERE task = ? AND version = ? ORDER BY piece');
  const deletion = db.prepare('DELETE FROM pieces WHERE task = ? AND version = ?');

  /** Both halves of a character beyond U+FFFF stay in one piece. */
  function endOfPiece(text: string, from: number): number {
    const end = from + longest;
    if (end >= text.length) return text.length;
    const isHalf = text.charCodeAt(end - 1) >>> 10 === 0xd800 >>> 10;
    return isHalf ? end - 1 : end;
  }

  return {
    /** Returns the text for the row. Called inside the caller's transaction. */
    keep(task: number, version: number, text: string): string {
      if (text.length <= longest) return text;
      let pieces = 0;
      for (let from = 0; from < text.length; pieces++) {
        const to = endOfPiece(text, from);
        insert.run(task, version, pieces, text.slice(from, to));
        from = to;
      }
      return JSON.stringify([pieces]);
    },
    /** The text that was kept, given that of its row. */
    read(task: number, version: number, kept: string): string {
      if (!kept.startsWith('[')) return kept;
      return readStatement
        .all(task, version)
        .map(({ text }) => text)
        .join('');
    },
    /** Deletes the pieces of a text that is replaced. */
    forget(task: number, version: number): void {
      if (Number.isFinite(longest)) deletion.run(task, version);
    },
  };
}
