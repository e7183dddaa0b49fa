import type { RowPage } from '@batonjs/store/rules';
import type { Database } from '../layout/database.ts';
import { inside } from '../layout/keys.ts';
import { taskOf } from '../layout/known-task.ts';

/** See `Rows.every`. */
export async function everyTask(
  { cluster, keys }: Database,
  from: string | undefined,
  limit: number,
): Promise<RowPage> {
  const range = inside(keys.tasks);
  const [{ kvs }] = await cluster.read([{ ...range, key: from ?? range.key, limit }]);
  const last = kvs.at(-1);
  return {
    rows: kvs.flatMap((kept) => taskOf(kept).row ?? []),
    // The key that comes next after it.
    next: last && kvs.length === limit ? `${last.key}\0` : undefined,
  };
}
