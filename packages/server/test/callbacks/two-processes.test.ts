import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { until } from '../../../../test/kit/until.ts';
import { otherProcess } from '../../../store-sqlite/test/other-process.ts';
import { type Agent, completed } from '../../src/index.ts';
import { callbackKeys } from '../../src/turns/outside/callback-keys.ts';
import { createWorker } from '../../src/worker.ts';
import { askingAgent, look, submit } from './asking-agent.ts';

/** A process with a server whose agent has asked a person. */
async function askingProcess() {
  const path = join(temporaryFolder(), 'tasks.db');
  const script = fileURLToPath(new URL('./serve-until-killed.ts', import.meta.url));
  const args = ['--conditions=@batonjs/source', '--disable-warning=ExperimentalWarning', script];
  const child = spawn(process.execPath, [...args, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const [url = '', id = ''] = String(line).trim().split(' ');
  const store = closedAfterTest(sqliteStore(path));
  return { url, id, kill, store, options: { store, callbacks: true, publicUrl: new URL(url).origin } };
}

it('two processes that get answers by one link at once take one, and the link outlives the process that made it', async () => {
  const { url, id, kill, store, options } = await askingProcess();
  const { agent, seen } = askingAgent();
  const here = serve(agent, options);
  await until(here, id, 'INPUT_REQUIRED');
  const page = await look({ fetch }, url);
  const answered = await Promise.all([
    submit({ fetch }, url, page, { text: 'Yes' }),
    submit(here, url, page, { text: 'No' }),
  ]);
  expect(answered.map(({ status }) => status).sort()).toEqual([200, 409]);
  await until(here, id, 'COMPLETED');
  await kill();
  expect((await look(here, url)).text).toContain('Thank you');
  const facts = (await store.readFacts(scope, id, 0, 100)).map(({ fact }) => fact);
  expect(facts.filter(({ type }) => type === 'message-received')).toHaveLength(2);
  expect(seen.length).toBeLessThan(2);
});

it('an answer that a person was thanked for counts, also where the client writes before another process takes the turn', async () => {
  const { url, id, kill, options } = await askingProcess();
  const seen: unknown[] = [];
  const agent: Agent = async function* ({ text, caller }) {
    seen.push(text, caller.answeredBy);
    yield completed();
  };
  const front = serve(agent, { ...options, run: 'workers' });
  await until(front, id, 'INPUT_REQUIRED');
  await kill();
  expect((await submit(front, url, await look(front, url), { text: 'No' })).text).toContain('Thank you');
  const message = { ...say('Yes'), messageId: 'of-the-client', taskId: id };
  await rpc(front, 'SendMessage', { message, configuration: { returnImmediately: true } });
  const worker = createWorker({ agent, ...options, callbacks: false, logger: () => {} });
  onTestFinished(() => worker.close({ graceMs: 0 }));
  await until(front, id, 'COMPLETED');
  expect(seen).toEqual(['No', 'Ana']);
});

it('two processes that make the key of a store at once sign with one', async () => {
  const path = join(temporaryFolder(), 'tasks.db');
  let reads = 0;
  const both = Promise.withResolvers<void>();
  const signed = [1, 2].map(async () => {
    const { child, open } = otherProcess();
    onTestFinished(async () => {
      child.kill();
      await once(child, 'exit');
    });
    const { getRecord, putRecord } = await open(path);
    const keys = callbackKeys(
      {
        async getRecord(name) {
          const found = await getRecord(name);
          if (++reads === 2) both.resolve();
          await both.promise;
          return found;
        },
        putRecord,
      },
      { monotonic: () => 0 },
    );
    return keys.sign('text');
  });
  const [one, other] = await Promise.all(signed);
  expect(one).toBe(other);
});
