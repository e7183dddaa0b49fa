/**
 * `pnpm chaos --store sqlite --kills 200 --seed 1`: kills and stops server processes that share a store while clients
 * work with them. The last line says what was lost; the exit code is 1 if anything was.
 *
 * `--store redis` starts a Redis of its own, which is killed too; `--url redis://…` takes one that is there, and lets it live.
 * `--store postgres` does the same with a PostgreSQL, `--store etcd` with a cluster of three members, killed one at a time.
 *
 * `--sabotage fence | cas | commit-id | notification` takes out a protection: then the exit code has to be 1.
 *
 * `--due`: every other process keeps none, and works on tasks only during calls and short runs.
 *
 * `--cancels 1000`: cancels tasks through one process while they complete in another. No process is killed.
 */
import { raceCancels } from './chaos/cancels.ts';
import { chaos } from './chaos/chaos.ts';
import { readOptions } from './chaos/options.ts';

const options = readOptions(process.argv.slice(2));

if (options.cancels !== undefined) {
  const { details, ...report } = await raceCancels(options.cancels, options);
  for (const detail of details.slice(0, 30)) console.error(detail);
  console.log(JSON.stringify(report));
  process.exit(report.lost > 0 ? 1 : 0);
}

const { counts, violations, logs: _, ...size } = await chaos(options);
for (const { kind, taskId, client = '', message } of violations.slice(0, 30))
  console.error(`${kind}: task ${taskId} ${client}: ${message}`);
if (violations.length > 0) console.error(`${violations.length} violations with seed ${options.seed}`);
console.log(JSON.stringify({ ...size, ...counts }));
process.exit(violations.length > 0 ? 1 : 0);
