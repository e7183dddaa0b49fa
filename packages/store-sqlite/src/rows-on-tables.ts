import type { Unsubscribe } from '@batonjs/store';
import type { Rows, Step, Topic } from '@batonjs/store/adapter';
import { isIdle } from '@batonjs/store/rules';
import type { Transactions } from './sql/database.ts';
import { logsOf } from './tables/logs.ts';
import type { Tables } from './tables/tables.ts';
import { taskListOf } from './tables/task-list.ts';

export interface RowsOnTablesOptions {
  readonly tables: Tables;
  readonly transactions: Transactions;
  readonly subscribe: (topic: Topic, notify: (version?: number) => void) => Unsubscribe;
  /** Called before each claim, which waits for the promise if there is one. */
  readonly beforeClaim: () => Promise<void> | undefined;
}

/** Rows without `identity`, `probe` and `close`, which depend on where the database is. */
export function rowsOnTables({
  tables,
  transactions,
  subscribe,
  beforeClaim,
}: RowsOnTablesOptions): Omit<Rows, 'identity' | 'probe' | 'close'> {
  const logs = logsOf(tables, transactions);
  const lists = taskListOf(tables.db, tables);
  const ping = tables.db.prepare('SELECT 1');

  function change<T>(step: Step<T>): Promise<T> {
    const work = () => tables.change(step);
    // Nothing is lost with what a power failure takes from a bucket, so that no take waits for the disk.
    return step.wanted.bucket === undefined ? transactions.write(work) : transactions.writeUnsynced(work);
  }

  /** Looks first: what changes nothing neither waits for the write lock nor holds it. */
  async function changeIfAny<T>(step: Step<T>): Promise<T> {
    await beforeClaim();
    const found = await transactions.read(() => tables.decide(step));
    return isIdle(found) ? found.result : change(step);
  }

  return {
    system: 'sqlite',
    encode: JSON.stringify,
    read: (wanted) => transactions.read(() => tables.find(wanted)),

    change: (step) => (step.isMostlyIdle ? changeIfAny(step) : change(step)),

    ...logs,
    page: (scope, search) => transactions.read(() => lists.list(scope, search)),
    every: (from, limit) => transactions.read(() => tables.tasks.every(from, limit)),
    texts: {
      isOn: () => tables.texts.areKept,
      page: (scope, search, prefixes) => transactions.read(() => lists.list(scope, search, prefixes)),
    },
    subscribe: (topic, notify) => transactions.read(() => subscribe(topic, notify)),
    ping: () => transactions.read(() => void ping.get()),
  };
}
