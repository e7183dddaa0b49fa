/**
 * `pnpm ledger --database postgres --kills 1000 --seed 1`: moves money between accounts by `turn.transaction`, each
 * transfer submitted with a commit, while processes are killed, stopped for longer than their lease and have their clocks
 * set, and connections and the database are killed. The last line says which cents are wrong; the exit code is 1 if any is.
 *
 * `--database sqlite` has the money in a file, and `--tasks redis | etcd` has the tasks in another store. `--sabotage fence | record` takes out a protection: then the exit code
 * has to be 1.
 */
import { parseArgs } from 'node:util';
import { media, mediumNamed } from './chaos/medium.ts';
import { ledger } from './ledger/ledger.ts';
import { protections } from './ledger/sabotage.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    database: { type: 'string', default: 'postgres' },
    tasks: { type: 'string' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    sabotage: { type: 'string' },
    lease: { type: 'string', default: '400' },
    processes: { type: 'string', default: '3' },
    for: { type: 'string', default: 'Infinity' },
  },
});
const { database } = values;
if (database !== 'postgres' && database !== 'sqlite') throw new TypeError('--database is postgres or sqlite');
const sabotage = protections.find((protection) => protection === values.sabotage);
if (values.sabotage !== undefined && !sabotage)
  throw new TypeError(`--sabotage is one of ${protections.join(', ')}`);
const tasks = values.tasks === undefined ? undefined : mediumNamed(values.tasks);
if (values.tasks !== undefined && !tasks)
  throw new TypeError(`--tasks is one of ${Object.keys(media).join(', ')}`);
const { unfinished, faults, ...report } = await ledger({
  database,
  tasks,
  sabotage,
  kills: Number(values.kills),
  seed: values.seed,
  leaseMs: Number(values.lease),
  processes: Number(values.processes),
  forMs: Number(values.for),
});
for (const { kind, about } of faults.slice(0, 30)) console.error(kind, about);
for (const about of unfinished.slice(0, 30)) console.error('unfinished', about);
console.log(JSON.stringify({ ...report, unfinished: unfinished.length, faults: faults.length }));
process.exit(faults.length + unfinished.length + report.crashes > 0 ? 1 : 0);
