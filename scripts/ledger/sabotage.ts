import { type SqlDatabase, sqlDatabase } from '@batonjs/transactions';

/** What can be taken out of a database: the comparison of fences, or the records of results. */
export type Protection = 'fence' | 'record';

/** The names of all of them. */
export const protections = ['fence', 'record'] as const satisfies readonly Protection[];

/** The same database without a protection. `delay` comes before each transaction, as a busy pool would make it wait. */
export function withoutProtection<Tx>(
  { driver }: SqlDatabase<Tx>,
  protection: Protection | undefined,
  delay: () => Promise<unknown>,
): SqlDatabase<Tx> {
  const database = sqlDatabase<Tx>({
    dialect: driver.dialect,
    async transaction(run) {
      await delay();
      return await driver.transaction(run);
    },
    async query(tx, statement, values) {
      if (protection === 'record' && statement.startsWith('insert into baton_transactions ')) return [];
      const rows = await driver.query(tx, statement, values);
      const isFence = statement.startsWith('insert into baton_transaction_tasks ');
      // The row says then that the largest fence is that of the transaction itself.
      return protection === 'fence' && isFence ? [{ fence: values[2] }] : rows;
    },
  });
  return protection === 'fence' ? unaware(database) : database;
}

/**
 * A process that was stopped finds out before its transactions are over that its leases are: its turns then know that they
 * are, too. Without the fence, only a turn that does not know goes on.
 */
const unaware = <Tx>(database: SqlDatabase<Tx>): SqlDatabase<Tx> => ({
  ...database,
  once(key, run) {
    const goingOn = (error: unknown) => {
      if (Object(error).code !== 'FENCED') throw error;
      return null;
    };
    return database.once(key, (tx) => run(tx).catch(goingOn), new AbortController().signal);
  },
});
