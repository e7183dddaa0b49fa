import { StoreError } from '@batonjs/store';
import { clock } from './database.ts';
import { frozen, isForbidden } from './postgres-error.ts';
import type { Transactions } from './transactions.ts';

/** `probes`: so that a probe fails, too. */
const tables = ['tasks', 'webhooks', 'records', 'probes'];

/**
 * See `Rows.freeze`. Triggers refuse the writes of every process; to create one waits for writes that are under way. Only the
 * owner of the tables can.
 */
export async function freeze(schema: string, transactions: Transactions, ms: number): Promise<void> {
  const forever = ms === Number.POSITIVE_INFINITY;
  const done = transactions.run(async (session, now) => {
    for (const table of tables) await session.query(`DROP TRIGGER IF EXISTS frozen ON ${schema}.${table}`);
    if (ms <= 0) return;
    await session.query(`CREATE OR REPLACE FUNCTION ${schema}.refuse_write() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF ${forever} OR ${clock} < ${forever ? 0 : Math.ceil(now + ms)} THEN
          RAISE EXCEPTION 'frozen' USING ERRCODE = '${frozen}';
        END IF;
        RETURN NULL;
      END $$`);
    for (const table of tables)
      await session.query(`CREATE TRIGGER frozen BEFORE INSERT OR UPDATE OR DELETE ON ${schema}.${table}
        FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.refuse_write()`);
  });
  await done.catch((error: StoreError) => {
    if (!isForbidden(error.cause)) throw error;
    const message = `Only the role that owns the tables of the schema "${schema}" can stop their writes, or let them go on`;
    throw new StoreError('UNAVAILABLE', message, { cause: error });
  });
}
