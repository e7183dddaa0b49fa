import { randomUUID } from 'node:crypto';
import type { Transactions } from './transactions.ts';

/** Large enough to need a page of its own: the write fails if the disk is full. */
const size = 8 * 1024;

/** Checks that the database can be written, and leaves nothing behind. */
export async function probe(transactions: Transactions, schema: string): Promise<void> {
  const id = randomUUID();
  await transactions.query(`INSERT INTO ${schema}.probes (id, content) VALUES ($1, $2)`, [
    id,
    ' '.repeat(size),
  ]);
  // Rows of processes that ended in between go as well.
  await transactions.query(`DELETE FROM ${schema}.probes`);
}
