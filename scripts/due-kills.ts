/**
 * `pnpm due-kills --store redis --tasks 1000`: tasks of a minute with steps, timers, questions, children, webhooks and
 * deadlines, and a schedule, that only processes work on which live for 20 s or so, and are killed or frozen then;
 * `--pace seconds` has tasks and processes of a second or two. The last line says what it has shown; the exit code is 1 if anything was lost or happened twice.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { outliveKills } from '../test/later/due-kills.ts';
import { mediumOf } from './chaos/medium.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    store: { type: 'string', default: 'postgres' },
    tasks: { type: 'string', default: '1000' },
    pace: { type: 'string', default: 'minutes' },
    processes: { type: 'string', default: '3' },
    for: { type: 'string', default: '1800000' },
  },
});
const kind = (['redis', 'postgres', 'etcd'] as const).find((one) => one === values.store);
if (!kind) throw new TypeError('--store is one of redis, postgres, etcd');
const { pace } = values;
if (pace !== 'seconds' && pace !== 'minutes') throw new TypeError('--pace is one of seconds, minutes');
const place = await mediumOf(kind).prepare(undefined);
const folder = await mkdtemp(join(tmpdir(), 'baton-due-'));
try {
  const { url, urls = [url], prefix, schema = prefix } = JSON.parse(place.location);
  const address = { kind, at: urls.join(','), part: schema };
  const { problems, ...shown } = await outliveKills({
    ...{ address, folder, count: Number(values.tasks) },
    ...{ forMs: Number(values.for), processes: Number(values.processes), pace },
  });
  for (const problem of problems.slice(0, 30)) console.error(problem);
  console.log(
    JSON.stringify({ store: kind, tasks: Number(values.tasks), ...shown, problems: problems.length }),
  );
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
  await place.remove();
}
