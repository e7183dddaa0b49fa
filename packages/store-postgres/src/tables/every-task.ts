import type { RowPage } from '@batonjs/store/rules';
import { taskOfSql } from '@batonjs/store/sql';
import { readTaskColumns } from '../database/columns.ts';
import type { Transactions } from '../database/transactions.ts';

/** See `Rows.every`. */
export async function everyTask(
  schema: string,
  transactions: Transactions,
  from = '',
  limit: number,
): Promise<RowPage> {
  const found = await transactions.query(
    `SELECT ${readTaskColumns} FROM ${schema}.tasks WHERE key > $1 ORDER BY key LIMIT $2`,
    [from, limit],
  );
  return { rows: found.map(taskOfSql), next: found.length < limit ? undefined : String(found.at(-1)?.key) };
}
