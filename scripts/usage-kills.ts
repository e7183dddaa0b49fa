/**
 * `pnpm usage-kills --kills 200 --seed 1`: trees of three agents call a model that bills each call: the first and the second
 * agent in two processes each on one store, which are killed in the middle of calls and between them; the third is a server of
 * the official SDK. The last line says what came of it; the exit code is 1 if the sum of a tree is not what was billed without
 * the calls that its logs mark as lost.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '@batonjs/client';
import { USAGE, usageOf } from '@batonjs/extensions/client';
import { sqliteStore } from '@batonjs/store-sqlite';
import { freePort } from '../test/kit/processes.ts';
import { builtProgram } from '../test/support/built-program.ts';
import { audit } from './usage-kills/audit.ts';
import { startForeign } from './usage-kills/foreign.ts';
import { type Billed, startProvider } from './usage-kills/provider.ts';
import { between, pick, seeded } from './workload/random.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: { kills: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
});
const most = Number(values.kills);
const random = seeded(values.seed);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const folder = await mkdtemp(join(tmpdir(), 'baton-usage-kills-'));
const program = await builtProgram(new URL('usage-kills/agent.ts', import.meta.url));
const running = new Map<number, ChildProcess>();
let kills = 0;
let isOver = false;

/** One call of a model in three loses its process: before it is answered, or shortly after. */
const provider = await startProvider(async ({ pid }: Billed, moment) => {
  if (kills >= most || !running.has(pid) || random() > (moment === 'before' ? 0.2 : 0.15)) return;
  if (moment === 'after') await pause(between(random, 0, 12));
  if (running.get(pid)?.kill('SIGKILL')) kills++;
  running.delete(pid);
});
const foreign = await startForeign(provider.url);

/** A process of an agent, which is started again when it is killed. */
async function start(role: 'top' | 'middle', port: number, below: string): Promise<void> {
  const env = {
    ROLE: role,
    PORT: `${port}`,
    DATABASE: join(folder, role),
    PROVIDER: provider.url,
    BELOW: below,
  };
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.once('exit', () => {
    running.delete(child.pid!);
    if (!isOver) void start(role, port, below);
  });
  await once(child.stdout!, 'data');
  running.set(child.pid!, child);
}

const ports = await Promise.all([1, 2, 3, 4].map((n) => freePort(n)));
const urlOf = (n: number) => `http://127.0.0.1:${ports[n]}`;
await Promise.all([
  ...[0, 1].map((n) => start('middle', ports[n]!, foreign.url)),
  ...[2, 3].map((n) => start('top', ports[n]!, urlOf(0))),
]);

/** Tries again, at one of both processes, until it is done. */
async function insist<T>(
  act: (client: Awaited<ReturnType<typeof connect>>) => Promise<T | undefined>,
): Promise<T> {
  for (const until = Date.now() + 300_000; Date.now() < until; await pause(100)) {
    const done = await connect(urlOf(pick(random, [2, 3])), { retry: false, extensions: [USAGE] })
      .then(act)
      .catch(() => undefined);
    if (done !== undefined) return done;
  }
  throw new Error('A task did not end in five minutes');
}

const reports = new Map<string, ReturnType<typeof usageOf>>();
async function tree(root: string): Promise<void> {
  const message = { messageId: root, role: 'ROLE_USER' as const, parts: [{ text: root }] };
  const { id } = await insist(
    async (client) => (await client.send(message, { returnImmediately: true })).task,
  );
  const task = await insist(async (client) => {
    const found = await client.getTask({ id });
    return /COMPLETED|FAILED/.test(found.status.state) ? found : undefined;
  });
  if (task.status.state === 'TASK_STATE_COMPLETED') reports.set(root, usageOf(task));
  else throw new Error(`${root} failed: ${JSON.stringify(task.status)}`);
}

const faults: string[] = [];
try {
  let count = 0;
  const lane = async () => {
    do await tree(`root-${++count}`);
    while (kills < most);
  };
  await Promise.all(Array.from({ length: Math.min(6, most) }, lane));
  const [top, middle] = [sqliteStore(join(folder, 'top')), sqliteStore(join(folder, 'middle'))];
  const { bills } = provider;
  const found = await audit({ top, middle }, bills, reports);
  faults.push(...found.faults);
  await Promise.all([top.close(), middle.close()]);
  for (const fault of faults.slice(0, 30)) console.error(fault);
  const { lost, cut } = found;
  console.log(
    JSON.stringify({ kills, trees: count, billed: bills.length, lost, cut, faults: faults.length }),
  );
} finally {
  isOver = true;
  for (const child of running.values()) child.kill('SIGKILL');
  provider.close();
  foreign.close();
  await rm(folder, { recursive: true, force: true });
}
process.exit(faults.length > 0 ? 1 : 0);
