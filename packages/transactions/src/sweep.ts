import type { Dialect } from './sql-driver.ts';
import type { SqlSession } from './sql-session.ts';
import { now } from './tables/schema.ts';

/** How many tasks one sweep deletes at most: more than can have become old since the sweep before. */
const batch = 256;

const old = `select scope, task from baton_transaction_tasks where at < $1 order by at limit ${batch}`;

/** The rows of a task go together: a turn that finds one of them missing would run again. */
const sweeping: Record<Dialect, readonly string[]> = {
  postgres: [
    `with swept as (delete from baton_transaction_tasks where (scope, task) in
(${old} for update skip locked) returning scope, task)
delete from baton_transactions using swept
where baton_transactions.scope = swept.scope and baton_transactions.task = swept.task`,
  ],
  sqlite: [
    `delete from baton_transactions where (scope, task) in (${old})`,
    `delete from baton_transaction_tasks where (scope, task) in (${old})`,
  ],
};

/** Deletes the results of tasks that had no transaction for `keepMs` milliseconds. */
export async function sweep<Tx>(session: SqlSession<Tx>, keepMs: number): Promise<void> {
  await session.transaction(async (tx) => {
    const [time] = await session.query(tx, `select ${now[session.dialect]} as now`);
    const before = Math.floor(Number(time?.now) - keepMs);
    for (const statement of sweeping[session.dialect]) await session.query(tx, statement, [before]);
  });
}
