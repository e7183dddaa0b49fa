import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programOf, type Release } from '../../test/upgrade/later-release.ts';
import { type ChaosReport, chaos, type Events } from '../chaos/chaos.ts';
import type { ChaosOptions } from '../chaos/options.ts';

/** What a rehearsal has shown besides: what releases say when they read all tasks. */
export interface UpgradeReport extends ChaosReport {
  /** This release, after the way back. */
  readonly back: string;
  /** This release and the next one, in the end. */
  readonly refusals: readonly string[];
}

/**
 * Rolls a fleet forward by one release and back, and forward again, one process after the other, under load and kills. Then
 * all of it at once to a release of another generation. The checks read the store as the last release does: runs in it.
 */
export async function rehearse(options: ChaosOptions): Promise<UpgradeReport> {
  let back = '';
  const refusals: string[] = [];
  const events: Events = async (fleet, kill, location) => {
    const total = { kills: 0, storeKills: 0 };
    const killUntil = async (share: number) => {
      const { kills, storeKills } = await kill(Math.floor(options.kills * share) - total.kills);
      total.kills += kills;
      total.storeKills += storeKills;
    };
    const numbers = fleet.up.map((_, n) => n);
    const moveTo = async (release: Release, moved: readonly number[]) =>
      fleet.replace(moved, await programOf(release, 'scripts/chaos/server.ts'));
    const answerOf = async (release: Release) => {
      const program = await programOf(release, 'scripts/upgrade/read-all.ts');
      const { stdout } = await promisify(execFile)(process.execPath, [program, options.store, location]);
      return stdout.trim();
    };

    await killUntil(0.1);
    for (const [roll, release] of (['next', 'this', 'next'] as const).entries()) {
      for (const n of numbers) {
        await moveTo(release, [n]);
        await killUntil(0.1 + 0.27 * (roll + (n + 1) / numbers.length));
      }
      if (release === 'this') back = await answerOf(release);
    }
    await moveTo('afterNext', numbers);
    await killUntil(1);
    refusals.push(await answerOf('this'), await answerOf('next'));
    return total;
  };
  const report = await chaos(options, events);
  return { ...report, back, refusals };
}
