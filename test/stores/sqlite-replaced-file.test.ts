import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Agent, artifact, completed, text } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { brief, rpc, say, stream } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';

const slowly = { timeout: 10_000, interval: 10 };
const newPath = (): string => join(temporaryFolder(), 'tasks.db');

/** A server on a file, and the errors that it logs. */
function serveFile(path: string, agent: Agent) {
  const store = closedAfterTest(sqliteStore(path));
  const errors: string[] = [];
  const server = serve(agent, {
    logger: (level, message) => void (level === 'error' && errors.push(message)),
    timeouts: { leaseMs: 300, sweepMs: 50 },
    store,
  });
  const close = async () => {
    await server.close({ graceMs: 0 });
    await store.close();
  };
  return { server, errors, close };
}

const remove = (path: string) => {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
};

it('A server whose SQLite file is deleted acknowledges nothing more, and says why', async () => {
  const path = newPath();
  const { server, errors } = serveFile(path, async function* () {
    yield completed();
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('before') });
  remove(path);
  for (let n = 0; n < 10; n++) {
    const send = rpc(server, 'SendMessage', { message: say(`lost ${n}`) });
    await expect(send).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  }
  await expect(rpc(server, 'GetTask', { id: task.id })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  await vi.waitFor(
    () => expect(errors).toContainEqual(expect.stringMatching(/^The store fails: .* was (deleted|replaced)/)),
    slowly,
  );
  expect(await server.ready()).toBe(false);
});

it('A server that only waits notices that its SQLite file was replaced, and ends its streams', async () => {
  const path = newPath();
  const agent: Agent = async function* () {
    yield artifact('out', text('1'));
    await new Promise(() => {});
  };
  const { server, errors, close } = serveFile(path, agent);
  const seen: string[] = [];
  let position = '';
  const ended = (async () => {
    for await (const { id, event } of stream(server, 'SendStreamingMessage', { message: say('go') })) {
      seen.push(brief(event));
      position = id ?? '';
      if (seen.length === 2) {
        new DatabaseSync(path).exec(`VACUUM INTO '${path}.copy'`);
        remove(path);
        copyFileSync(`${path}.copy`, path);
      }
    }
  })().catch((error: unknown) => error);
  expect(await ended).toMatchObject({ reason: 'UNAVAILABLE' });
  await vi.waitFor(
    () => expect(errors).toContainEqual(expect.stringMatching(/^The store fails: .* was (deleted|replaced)/)),
    slowly,
  );
  expect(seen).toEqual(['task SUBMITTED', 'out:1']);
  await close();

  // Started again on what was restored: the turn that was lost with its process is recovered.
  const again = serveFile(path, agent);
  const [task] = (await rpc(again.server, 'ListTasks', {})).tasks;
  await vi.waitFor(async () => {
    const { status } = await rpc(again.server, 'GetTask', { id: task.id });
    expect(status.state).toBe('TASK_STATE_FAILED');
  }, slowly);
  const rest: string[] = [];
  const resumed = stream(again.server, 'SubscribeToTask', { id: task.id }, { 'last-event-id': position });
  for await (const { event } of resumed) rest.push(brief(event));
  expect(rest).toEqual(['FAILED']);
});
