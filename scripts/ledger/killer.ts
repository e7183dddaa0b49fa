import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { PostgresServer } from '../../test/support/postgres.ts';
import type { Fleet } from '../chaos/fleet.ts';
import { between, pick } from '../workload/random.ts';

/** How often something was killed. */
export interface LedgerKills {
  /** Processes that were killed. */
  processes: number;
  /** Processes that were stopped for longer than their lease, and went on. */
  stops: number;
  /** Times that all connections to the money were ended by the database. */
  connections: number;
  /** Kills of the database itself. */
  databases: number;
}

export interface LedgerKillerOptions {
  readonly fleet: Fleet;
  readonly kills: number;
  readonly leaseMs: number;
  /** Only stops, long enough for others to take over: what a fence is for. */
  readonly onlyStops: boolean;
  readonly random: () => number;
  /** How many transfers there are by now: each kill waits for two more. */
  readonly transfers: () => number;
  readonly postgres: PostgresServer | undefined;
  /** Whether to stop early. */
  readonly enough: () => boolean;
}

/** Kills at random moments, always leaving a process. Resolves to how often, once every stopped process runs again. */
export async function killAtRandom(options: LedgerKillerOptions): Promise<LedgerKills> {
  const { fleet, leaseMs, random, transfers, postgres, enough } = options;
  const done: LedgerKills = { processes: 0, stops: 0, connections: 0, databases: 0 };
  const stops: Promise<void>[] = [];
  for (let kills = 0; kills < options.kills; kills++) {
    await sleep(between(random, leaseMs / 8, leaseMs / 2));
    while ((fleet.up.length < 2 || transfers() < 2 * kills) && !enough()) await sleep(10);
    if (enough()) break;
    const victim = pick(random, fleet.up);
    const [kind, length] = [random(), random()];
    if (options.onlyStops) {
      stops.push(fleet.stop(victim, leaseMs * (3 + length)));
      done.stops++;
    } else if (postgres && kind < 0.04) {
      await postgres.kill();
      await sleep(leaseMs * length);
      await postgres.restart();
      done.databases++;
    } else if (postgres && kind < 0.25) {
      await endConnections(postgres.url);
      done.connections++;
    } else if (kind < 0.6) {
      fleet.kill(victim);
      done.processes++;
    } else {
      stops.push(fleet.stop(victim, leaseMs * (1.5 + 2.5 * length)));
      done.stops++;
    }
  }
  await Promise.all(stops);
  return done;
}

/** Ends every connection of the processes to the money. */
async function endConnections(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'bank-process'",
  );
  await client.end();
}
