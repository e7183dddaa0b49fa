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
import { askingAgent, look, submit } from './asking-agent.ts';

it('two processes that get answers by one link at once take one, and the link outlives the process that made it', async () => {
  const path = join(temporaryFolder(), 'tasks.db');
  const script = fileURLToPath(new URL('./serve-until-killed.ts', import.meta.url));
  const args = ['--conditions=@batonjs/source', '--disable-warning=ExperimentalWarning', script];
  const child = spawn(process.execPath, [...args, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const [url = '', id = ''] = String(line).trim().split(' ');
  const { agent, seen } = askingAgent();
  const store = closedAfterTest(sqliteStore(path));
  const here = serve(agent, { store, callbacks: true, publicUrl: new URL(url).origin });
  await until(here, id, 'INPUT_REQUIRED');
  const page = await look({ fetch }, url);
  const answered = await Promise.all([
    submit({ fetch }, url, page, { text: 'Yes' }),
    submit(here, url, page, { text: 'No' }),
  ]);
  expect(answered.map(({ status }) => status).sort()).toEqual([200, 409]);
  await until(here, id, 'COMPLETED');
  child.kill('SIGKILL');
  await ended;
  expect((await look(here, url)).text).toContain('Thank you');
  const facts = (await store.readFacts(scope, id, 0, 100)).map(({ fact }) => fact);
  expect(facts.filter(({ type }) => type === 'message-received')).toHaveLength(2);
  expect(seen.length).toBeLessThan(2);
});
