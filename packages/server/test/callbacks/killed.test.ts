import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { until } from '../../../../test/kit/until.ts';
import { completed, taskAgent } from '../../src/index.ts';
import { statusOf } from './serve-callbacks.ts';

it.each([
  ['right after its 202: the value is there', 'after'],
  ['before it answers: the other system sends the value again', 'before'],
])('a server is killed %s', async (_, dies) => {
  const path = join(temporaryFolder(), 'tasks.db');
  const script = fileURLToPath(new URL('./wait-until-killed.ts', import.meta.url));
  const args = ['--conditions=@batonjs/source', '--disable-warning=ExperimentalWarning', script];
  const child = spawn(process.execPath, [...args, path, dies], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [line] = await once(child.stdout, 'data');
  const [url = '', id = ''] = String(line).trim().split(' ');
  const sent = fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"paid":true}',
  });
  if (dies === 'after') expect((await sent).status).toBe(202);
  else await expect(sent).rejects.toThrow();
  await ended;

  const store = closedAfterTest(sqliteStore(path));
  const seen: unknown[] = [];
  const server = serve(
    taskAgent(async function* ({ callbacks }) {
      seen.push(callbacks.callback?.value);
      yield completed();
    }),
    {
      store,
      callbacks: true,
      publicUrl: new URL(url).origin,
      restart: 'rerun',
      timeouts: { leaseMs: 2_000 },
    },
  );
  // The one that was answered may be sent again, too: its answer may be lost on the way.
  expect(await statusOf(server, url, { paid: true })).toBe(202);
  await until(server, id, 'COMPLETED');
  expect(seen).toEqual([{ paid: true }]);
  const facts = await store.readFacts(scope, id, 0, 100);
  expect(facts.filter(({ fact }) => fact.type === 'callback-received')).toHaveLength(1);
});
