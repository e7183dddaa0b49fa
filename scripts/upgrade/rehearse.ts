import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programOf, type Release } from '../../test/upgrade/later-release.ts';
import { type ChaosReport, chaos, type Events } from '../chaos/chaos.ts';
import type { ChaosOptions } from '../chaos/options.ts';

/** What a rehearsal has shown besides. */
export interface UpgradeReport extends ChaosReport {
  /** What older releases say of the data in the end. */
  readonly refusals: readonly string[];
}

/**
 * Rolls a fleet forward by one release and back, and forward again, one process after the other, under load and kills. Then
 * all of it at once to a release of another generation. The checks read the store as the last release does: runs in it.
 */
export async function rehearse(options: ChaosOptions): Promise<UpgradeReport> {
  const refusals: string[] = [];
  const events: Events = async (fleet, kill, location) => {
    const numbers = fleet.up.map((_, n) => n);
    const oneByOne = (release: Release) => numbers.map((n) => ({ release, moved: [n] }));
    const moves = [
      ...(['next', 'this', 'next'] as const).flatMap(oneByOne),
      { release: 'afterNext' as const, moved: numbers },
    ];
    const total = { kills: 0, storeKills: 0 };
    // Before the first move, and after each: as many kills as are due by then.
    for (const [n, move] of [undefined, ...moves].entries()) {
      if (move) await fleet.replace(move.moved, await programOf(move.release, 'scripts/chaos/server.ts'));
      const due = Math.floor((options.kills * (n + 1)) / (moves.length + 1)) - total.kills;
      const { kills, storeKills } = await kill(due);
      total.kills += kills;
      total.storeKills += storeKills;
    }
    for (const release of ['this', 'next'] as const) {
      const program = await programOf(release, 'scripts/upgrade/identity.ts');
      const { stdout } = await promisify(execFile)(process.execPath, [program, options.store, location]);
      refusals.push(stdout.trim());
    }
    return total;
  };
  return { ...(await chaos(options, events)), refusals };
}
