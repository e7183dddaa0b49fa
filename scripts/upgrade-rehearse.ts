/**
 * `pnpm upgrade:rehearse --store postgres --kills 20`: three processes work on a store while clients use them. They are
 * replaced by those of a pretended next release, one by one, then back, and forward again, and then by a release that takes
 * away what this one needs (`test/upgrade/later-release.ts`). Processes are killed all the while, and servers of stores with
 * them. `--page`: instead, a project on SQLite follows the upgrade page to the next release, to PostgreSQL, and back. Without
 * either, that on each store that is here, then the page. The last line of each says what was lost; the exit code is 1 if
 * anything was.
 */
import { canStartEtcd } from '../test/support/etcd.ts';
import { canStartPostgres } from '../test/support/postgres.ts';
import { canStart } from '../test/support/redis.ts';
import { programOf } from '../test/upgrade/later-release.ts';
import { type ChaosOptions, readOptions } from './chaos/options.ts';
import { followPage } from './upgrade/follow-page.ts';
import type { UpgradeReport } from './upgrade/rehearse.ts';

const args = process.argv.slice(2);
const options = { ...readOptions(args.filter((arg) => arg !== '--page')), chunks: 40 };
const all = { sqlite: true, postgres: canStartPostgres(), redis: canStart(), etcd: canStartEtcd() };
type Rehearse = (options: ChaosOptions) => Promise<UpgradeReport>;
const { rehearse }: { rehearse: Rehearse } = await import(
  await programOf('afterNext', 'scripts/upgrade/rehearse.ts')
);

const countBy = (values: readonly number[]) => {
  const groups = Object.entries(Object.groupBy(values, String));
  return Object.fromEntries(groups.map(([value, all]) => [value, all?.length]));
};

const say = (violations: UpgradeReport['violations']) => {
  for (const { kind, taskId, client = '', message } of violations.slice(0, 30))
    console.error(`${kind}: task ${taskId} ${client}: ${message}`);
};

const isNamed = args.some((argument) => argument.startsWith('--store'));
const stores = isNamed ? [options.store] : (Object.keys(all) as (keyof typeof all)[]);
for (const store of args.includes('--page') ? [] : stores) {
  if (!isNamed && !(await all[store as keyof typeof all])) {
    console.log(JSON.stringify({ store, skipped: 'it is not on this machine' }));
    continue;
  }
  const { counts, violations, logs, back, refusals, ...size } = await rehearse({ ...options, store });
  say(violations);
  const isRefused = refusals.every((sentence) => sentence.includes('its layout has number 1000'));
  if (violations.length > 0 || !isRefused || !back.startsWith('It reads')) process.exitCode = 1;
  const facts = logs.flatMap((log) => log.facts.map(({ fact }) => fact));
  const formats = {
    facts: countBy(facts.map(({ format }) => format)),
    factsWithNewMember: facts.filter((fact) => 'begunBy' in fact).length,
    snapshots: countBy(logs.flatMap(({ snapshot }) => snapshot?.format ?? [])),
  };
  console.log(JSON.stringify({ store, ...size, ...counts, ...formats, back, refusals }));
}
if (!isNamed && (await all.postgres)) {
  const { counts, violations, logs: _, complaints, ...size } = await followPage(options);
  say(violations);
  for (const complaint of complaints) console.error(complaint);
  if (violations.length > 0 || complaints.length > 0) process.exitCode = 1;
  console.log(JSON.stringify({ page: 'upgrading.md', ...size, ...counts, complaints: complaints.length }));
}
process.exit();
