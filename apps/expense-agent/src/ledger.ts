import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Failure, Turn } from '@batonjs/server';
import { sqliteDatabase } from '@batonjs/transactions';

/** Keeps an approved expense, once per task. Resolves to the reason if it could not. */
export type Ledger = (
  expense: { readonly amount: number; readonly currency: string },
  turn: Pick<Turn, 'taskId' | 'transaction' | 'signal'>,
) => Promise<Failure | undefined>;

/** Keeps nothing. */
export const noLedger: Ledger = async () => undefined;

/** A ledger in a SQLite file. The expense of a turn is booked exactly once, however often its process is killed. */
export function fileLedger(path: string): Ledger & { close(): void } {
  mkdirSync(dirname(path), { recursive: true });
  const file = new DatabaseSync(path);
  const database = sqliteDatabase(file);
  const record: Ledger = async ({ amount, currency }, { taskId, transaction }) => {
    await transaction('book', database, (tx) => {
      tx.exec('create table if not exists expenses (task text, amount real, currency text)');
      tx.prepare('insert into expenses values (?, ?, ?)').run(taskId, amount, currency);
    });
    return undefined;
  };
  return Object.assign(record, { close: () => file.close() });
}

/** A ledger that takes expenses by HTTP, and has to know repeated ones by their key. */
export const httpLedger =
  (url: string): Ledger =>
  async (expense, { taskId, signal }) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ ...expense, key: taskId });
    const reply = await fetch(url, { method: 'POST', headers, body, signal }).catch(() => undefined);
    if (reply?.ok) return undefined;
    return {
      code: 'LEDGER_UNAVAILABLE',
      message: 'The ledger cannot be reached, try again later',
      retryable: true,
    };
  };
