/**
 * `pnpm file-kills --database postgres --kills 400 --seed 1`: two processes on one store and one folder (or S3: `--files s3`) take files from
 * clients, make some, copy them for forks and for other tasks, erase and sweep them, and are killed at their writes, one
 * after the other. The last line says what came of it; the exit code is 1 if a task lacks its file, a file its task, or a byte
 * is wrong. `--sabotage` says that bytes are stored before they are: then the exit code has to be 1.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { S3Server } from '../test/kit/s3/s3-server.ts';
import { builtProgram } from '../test/support/built-program.ts';
import { mediumNamed, mediumOf } from './chaos/medium.ts';
import { audit } from './file-kills/audit.ts';
import { filesAt } from './file-kills/files-at.ts';
import type { FileOrders } from './file-kills/process.ts';
import { between, seeded } from './workload/random.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    database: { type: 'string', default: 'sqlite' },
    files: { type: 'string', default: 'folder' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    sabotage: { type: 'boolean', default: false },
  },
});
const database = mediumNamed(values.database);
if (!database) throw new TypeError('--database is sqlite or postgres');
if (!/^(folder|s3)$/.test(values.files)) throw new TypeError('--files is folder or s3');
const random = seeded(values.seed);
const { sabotage } = values;
const medium = mediumOf(database);
const place = await medium.prepare(undefined);
const folder = join(await mkdtemp(join(tmpdir(), 'baton-file-kills-')), 'files');
mkdirSync(`${folder}-client`);
const bucket = new S3Server().server;
let s3: string | undefined;
if (values.files === 's3') {
  await once(bucket.listen(0, '127.0.0.1'), 'listening');
  s3 = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
}
const program = await builtProgram(new URL('file-kills/process.ts', import.meta.url));
const faults: string[] = [];
let kills = 0;
/** How many writes a round and a sweep have, about: as the latest that were not killed had. */
const writes = { round: 0, sweep: 0 };

/** Runs a process to its end. Resolves to how many writes there were; undefined if it was killed, or ended by itself: a fault. */
async function run(rounds: readonly string[], dieAt: number): Promise<number | undefined> {
  const { location } = place;
  const orders: FileOrders = { database: database!, location, folder, s3, rounds, dieAt, sabotage };
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (...ended) => resolve(ended)),
  );
  if (signal === 'SIGKILL') kills++;
  else if (code !== 0) faults.push(`A process ended with ${code ?? signal}`);
  return signal || code ? undefined : Number(output);
}

/** One of both processes: each round begins where the one before was killed. Resolves to its rounds, all of them done. */
async function lane(name: string, times: number): Promise<string[]> {
  const rounds: string[] = [];
  for (let n = 0; n < times; n++) {
    rounds.push(`${values.seed}-${name}-${n}`);
    const count = await run(rounds.slice(-2), between(random, 1, writes.round));
    // It took fewer writes this time.
    if (count) writes.round = count;
  }
  await run(rounds.slice(-1), Number.POSITIVE_INFINITY);
  return rounds;
}

try {
  writes.round = (await run([`${values.seed}-first`], Number.POSITIVE_INFINITY)) ?? 0;
  while (kills < Number(values.kills) && faults.length === 0) {
    const left = Number(values.kills) - kills;
    const times = Math.max(1, Math.min(10, Math.ceil(left / 2)));
    const rounds = (await Promise.all(['a', 'b'].map((name) => lane(`${kills}-${name}`, times)))).flat();
    // Nothing else works now, so that all that is left is old.
    for (let tries = 0; tries < 3 && kills < Number(values.kills); tries++)
      await run([], between(random, 1, writes.sweep || 100));
    writes.sweep = (await run([], Number.POSITIVE_INFINITY)) ?? 0;
    const store = await medium.open(place.location);
    faults.push(...(await audit(store, filesAt(folder, s3), rounds)));
    await store.close();
  }
  // What the killed processes had begun to write goes after a day.
  const begun = () => (s3 ? [] : readdirSync(folder).filter((name) => name.startsWith('.new-')));
  const old = new Date(Date.now() - 25 * 3_600_000);
  const found = begun().length;
  for (const name of begun()) utimesSync(join(folder, name), old, old);
  for await (const _ of filesAt(folder, s3).list('')) break;
  if (begun().length > 0) faults.push('what was not stored to its end is still there');
  for (const fault of faults.slice(0, 30)) console.error(fault);
  const report = { database, files: values.files, kills, writes, begun: found, faults: faults.length };
  console.log(JSON.stringify(report));
} finally {
  await place.remove();
  bucket.close();
  bucket.closeAllConnections();
  rmSync(join(folder, '..'), { recursive: true, force: true });
}
process.exit(faults.length > 0 ? 1 : 0);
