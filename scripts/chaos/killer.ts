import { setTimeout as sleep } from 'node:timers/promises';
import { between, pick } from '../workload/random.ts';
import type { Fleet } from './fleet.ts';

export interface KillerOptions {
  readonly kills: number;
  readonly leaseMs: number;
  /** Only stops, long enough for others to take over: what a fence is for. */
  readonly onlyStops: boolean;
  readonly random: () => number;
  /** How many tasks there are by now: each kill waits for five more. */
  readonly tasks: () => number;
  /** Whether to stop early. */
  readonly enough: () => boolean;
}

/**
 * Kills or stops a random process at random moments, always leaving one. Resolves to how often it did, once what was
 * stopped runs again.
 */
export async function killAtRandom(fleet: Fleet, options: KillerOptions): Promise<number> {
  const { leaseMs, onlyStops, random, tasks, enough } = options;
  const stops: Promise<void>[] = [];
  let kills = 0;
  while (kills < options.kills && !enough()) {
    await sleep(between(random, leaseMs / 5, leaseMs));
    while ((fleet.up.length < 2 || tasks() < 5 * (kills + 1)) && !enough()) await sleep(10);
    if (enough()) break;
    const victim = pick(random, fleet.up);
    const [kind, length] = [random(), random()];
    if (onlyStops) stops.push(fleet.stop(victim, leaseMs * (2 + length)));
    else if (kind < 0.5) fleet.kill(victim);
    else stops.push(fleet.stop(victim, leaseMs * (0.5 + 2.5 * length)));
    kills++;
  }
  await Promise.all(stops);
  return kills;
}
