import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError, type TaskStore } from '@batonjs/store';
import type { KeptLog } from '../../test/histories/history.ts';
import { programOf, type Release } from '../../test/upgrade/later-release.ts';
import { type ChaosReport, chaos, type Events, scopes } from '../chaos/chaos.ts';
import { type MediumName, mediumOf } from '../chaos/medium.ts';
import type { ChaosOptions } from '../chaos/options.ts';
import { readLogs } from '../workload/verdict.ts';
import { Ledger } from './ledger.ts';
import { type Command, Page } from './page.ts';

/** What following the page has shown besides. Times are in milliseconds. */
export interface PageReport extends ChaosReport {
  /** What is not as the page says. */
  readonly complaints: readonly string[];
  /** How many messages were sent until each was answered. */
  readonly sent: number;
  /** How many answers had status 503. */
  readonly answers503: number;
  /** How many tasks each store has in the end, in the order in which they were used. */
  readonly kept: readonly number[];
  /** For how long each copy refused writes, and for how long clients waited until processes work on the new store. */
  readonly copies: readonly { readonly refused: string | undefined; readonly noAnswerMs: number }[];
  /** After how long a store took writes again whose copy was killed. */
  readonly thawedAfterMs: number;
}

/** Where tasks are. */
interface Address {
  readonly store: MediumName;
  readonly location: string;
}

/**
 * Follows the upgrade page, under load and kills: from this release to the next one on SQLite, to PostgreSQL, back by one
 * release, and back to SQLite. The commands are those of the page.
 */
export async function followPage(options: ChaosOptions): Promise<PageReport> {
  const complaints: string[] = [];
  const left: KeptLog[][] = [];
  const copies: PageReport['copies'][number][] = [];
  let ledger: Ledger | undefined;
  let thawedAfterMs = 0;
  const [postgres, sqlite] = await Promise.all([
    mediumOf('postgres').prepare(undefined),
    mediumOf('sqlite').prepare(undefined),
  ]);
  const { url } = JSON.parse(postgres.location);
  const inPostgres: Address = { store: 'postgres', location: JSON.stringify({ url, schema: 'baton' }) };
  const back: Address = { store: 'sqlite', location: sqlite.location };

  const succeed = async (command: Command, release: Release) => {
    const { code, output } = await command(release);
    if (code !== 0) complaints.push(`It ended with ${code}: ${output}`);
    return output;
  };

  const events: Events = async (fleet, kill, location) => {
    const page = new Page({
      'sqlite:tasks.db': `sqlite:${location}`,
      'postgres://localhost/tasks': url,
      'sqlite:back.db': `sqlite:${back.location}`,
    });
    const sends = new Ledger(() => fleet.origins);
    ledger = sends;
    const all = fleet.up.map((_, n) => n);
    let kills = 0;
    const killSome = async () => {
      kills += (await kill(Math.ceil(options.kills / 10))).kills;
    };
    const follow = async (heading: string, release: Release) => {
      for (const command of page.commandsOf(heading)) await succeed(command, release);
    };
    const roll = async (release: Release) => {
      for (const n of all) {
        await fleet.replace([n], await programOf(release, 'scripts/chaos/server.ts'));
        await killSome();
      }
    };
    const move = async (heading: string, release: Release, from: Address, to: Address, kills: boolean) => {
      const [copy, ...others] = page.commandsOf(heading) as [Command, ...Command[]];
      const source = await mediumOf(from.store).open(from.location);
      if (kills) {
        const killed = await copy(release, (end) => whenWritesAre('refused', source).then(end));
        if (killed.code !== null) complaints.push(`It was not killed: ${killed.output}`);
        const since = performance.now();
        await whenWritesAre('taken', source);
        thawedAfterMs = Math.ceil(performance.now() - since);
        await killSome();
      }
      const since = performance.now();
      const output = await succeed(copy, release);
      await fleet.replace(all, await programOf(release, 'scripts/chaos/server.ts'), to);
      const noAnswerMs = await sends.longestPause(since);
      copies.push({ refused: /^Refused for: (.*)$/m.exec(output)?.[1], noAnswerMs });
      for (const command of others) await succeed(command, release);
      left.push(await readLogs(source, scopes));
      await source.close();
      await killSome();
    };

    await killSome();
    await follow('Before', 'this');
    await roll('next');
    await follow('After', 'next');
    await move('To another store', 'next', { store: 'sqlite', location }, inPostgres, true);
    await roll('this');
    await move('Back to the store before', 'this', inPostgres, back, false);
    await sends.end();
    complaints.push(...page.left.map((command) => `The rehearsal does not run ${command}`));
    return { kills, storeKills: 0, ...back };
  };

  try {
    const report = await chaos({ ...options, store: 'sqlite' }, events);
    const { sent = 0, refused = { all: 0, unexplained: 0 } } = ledger ?? {};
    const missing = ledger?.missingIn(report.logs) ?? [];
    complaints.push(...missing.map((message) => `It is not there once: message ${message}`));
    complaints.push(...left.flatMap((logs) => lostSince(logs, report.logs)));
    if (refused.unexplained > 0) complaints.push(`${refused.unexplained} answers of 503 have no Retry-After`);
    const kept = [...left, report.logs].map((logs) => logs.length);
    return { ...report, complaints, sent, answers503: refused.all, kept, copies, thawedAfterMs };
  } finally {
    await ledger?.end();
    await Promise.all([postgres.remove(), sqlite.remove()]);
  }
}

/** Tasks of a store that was left whose log is not the beginning of the one that is there now. */
function lostSince(before: readonly KeptLog[], logs: readonly KeptLog[]): string[] {
  const now = new Map(logs.map(({ taskId, facts }) => [taskId, facts]));
  const isLost = ({ taskId, facts }: KeptLog) =>
    facts.some(({ commitId }, n) => now.get(taskId)?.[n]?.commitId !== commitId);
  return before.filter(isLost).map(({ taskId }) => `Its log is not that of the store before: ${taskId}`);
}

/** Resolves once writes of a store are refused, or taken again. */
async function whenWritesAre(how: 'refused' | 'taken', store: TaskStore): Promise<void> {
  for (;;) {
    const isRefused = await Promise.resolve(store.probe?.()).then(
      () => false,
      (error) => StoreError.is(error, 'UNAVAILABLE') && error.message.includes('takes no writes'),
    );
    if (isRefused === (how === 'refused')) return;
    await sleep(1);
  }
}
