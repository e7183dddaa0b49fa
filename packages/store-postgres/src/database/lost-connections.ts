import type pg from 'pg';

/** An `error` event without a listener would end the process. The statement under way, or the next one, rejects. */
const ignore = (): void => {};

const guarded = new WeakSet<object>();

/**
 * From now on, no connection of the pool that is lost ends the process: one that is idle, in use, or just opened.
 * Does nothing for a pool that was given before.
 */
export function outliveLostConnections(pool: pg.Pool): void {
  if (guarded.has(pool)) return;
  guarded.add(pool);
  pool.on('error', ignore);
  // The pool takes its own listener off after `acquire`, and several rounds before `connect()` resolves.
  pool.on('acquire', (client) => {
    if (guarded.has(client)) return;
    guarded.add(client);
    client.on('error', ignore);
  });
}
