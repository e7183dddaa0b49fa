import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAgentServer } from '@batonjs/server';
import { expect, it, onTestFinished } from 'vitest';
import { repetitions } from '../kit/repetitions.ts';
import { rpc, say } from '../kit/rpc.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { builtProgram } from '../support/built-program.ts';
import { postgresForTests } from '../support/postgres.ts';
import { redisForTests } from '../support/redis.ts';
import { dueOptions } from './due-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** Tasks that only processes work on that live for a moment, and are killed or frozen then. */

const [redis, postgres] = await Promise.all([redisForTests(), postgresForTests()]);
const urls = { sqlite: '', redis: redis?.url, postgres: postgres?.url };
const kinds = (['sqlite', 'redis', 'postgres'] as const).filter((kind) => urls[kind] !== undefined);
const program = await builtProgram(new URL('./run-due.ts', import.meta.url));
const count = repetitions(12, 100);

it.each(kinds)('all end on %s, and no step begins again after the next one has begun', async (kind) => {
  const folder = temporaryFolder();
  const at = urls[kind] || join(folder, 'tasks.db');
  const address: StoreAddress = { kind, at, part: `part-${randomUUID()}` };
  const journal = join(folder, 'journal');
  writeFileSync(journal, '');
  const store = openStore(address);
  onTestFinished(() => store.close());
  const server = createAgentServer({ ...dueOptions(journal), store });
  const configuration = { returnImmediately: true };
  const ids: string[] = [];
  for (let n = 0; n < count; n++)
    ids.push((await rpc(server, 'SendMessage', { message: say('go'), configuration })).task.id);
  const begin = () => {
    const child = spawn(process.execPath, [program, JSON.stringify(address), journal], { stdio: 'inherit' });
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return { child, ended };
  };
  const frozen = [];
  for (let n = 0; n < 4; n++) {
    const { child } = begin();
    await sleep(1_200);
    // One that is frozen in the middle of a write would keep the file of SQLite to itself.
    const isFrozen = n % 2 === 0 && kind !== 'sqlite';
    child.kill(isFrozen ? 'SIGSTOP' : 'SIGKILL');
    if (isFrozen) frozen.push(child);
  }
  // Two at once; nothing that they began keeps them alive.
  const last = [begin(), begin()];
  for (const { ended } of last) expect(await ended).toEqual([0, null]);
  const before = readFileSync(journal, 'utf8');
  // What was frozen lost its leases, and begins nothing when it goes on.
  for (const child of frozen) child.kill('SIGCONT');
  await sleep(500);
  expect(readFileSync(journal, 'utf8')).toBe(before);
  for (const id of ids)
    expect((await rpc(server, 'GetTask', { id })).status.state).toBe('TASK_STATE_COMPLETED');
  for (const id of ids) {
    const steps = before.split('\n').flatMap((line) => (line.startsWith(`${id} `) ? [line.slice(-1)] : []));
    expect(steps).toEqual([...steps].sort());
    expect(new Set(steps)).toEqual(new Set(['a', 'b', 'c', 'd']));
    expect(steps.filter((name) => name === 'b').length).toBeGreaterThan(1);
  }
});
