import { setTimeout as sleep } from 'node:timers/promises';
import { between, pick } from '../workload/random.ts';
import type { Fleet } from './fleet.ts';

/** How many waits of 10 ms for a new task end a run, for each millisecond of a lease: 100 leases. */
const patience = 10;

export interface KillerOptions {
  readonly kills: number;
  readonly leaseMs: number;
  /** Only stops, long enough for others to take over: what a fence is for. */
  readonly onlyStops: boolean;
  readonly random: () => number;
  /** How many tasks there are by now: each kill waits for five more. */
  readonly tasks: () => number;
  /** Kills the store's own server and starts it again after so many milliseconds; undefined: it has none. */
  readonly crash: ((downMs: number) => Promise<void>) | undefined;
  /** Whether to stop early. */
  readonly enough: () => boolean;
}

/** How many kills and stops there were, and how many of them hit the store's own server. */
export interface Kills {
  readonly kills: number;
  readonly storeKills: number;
}

/**
 * Kills or stops a random process at random moments, always leaving one; where the store has a server of its
 * own, that is killed now and then too. Resolves to how often it did, once what was stopped runs again.
 */
export async function killAtRandom(fleet: Fleet, options: KillerOptions): Promise<Kills> {
  const { leaseMs, onlyStops, random, tasks, crash, enough } = options;
  const stops: Promise<void>[] = [];
  let kills = 0;
  let storeKills = 0;
  while (kills < options.kills && !enough()) {
    await sleep(between(random, leaseMs / 5, leaseMs));
    let [begun, quiet] = [tasks(), 0];
    while ((fleet.up.length < 2 || tasks() < 5 * (kills + 1)) && !enough() && quiet < leaseMs * patience) {
      await sleep(10);
      quiet = tasks() === begun ? quiet + 1 : 0;
      begun = tasks();
    }
    // Every client waits for its task: what is stuck is found without more kills.
    if (enough() || quiet >= leaseMs * patience) break;
    const victim = pick(random, fleet.up);
    const [kind, length] = [random(), random()];
    if (onlyStops) stops.push(fleet.stop(victim, leaseMs * (2 + length)));
    else if (crash && kind < 0.2) {
      await crash(leaseMs * length);
      storeKills++;
    } else if (kind < 0.5) fleet.kill(victim);
    else stops.push(fleet.stop(victim, leaseMs * (0.5 + 2.5 * length)));
    kills++;
  }
  await Promise.all(stops);
  return { kills, storeKills };
}
