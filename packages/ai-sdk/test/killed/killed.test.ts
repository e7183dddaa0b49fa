import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, textOf } from '@batonjs/client';
import { expect, it, onTestFinished } from 'vitest';
import { type Command, freePort, node, run } from '../../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';
import { serveModel } from '../openai-server.ts';

it('a killed process costs no finished model call and no finished tool again, and leaves no half text', async () => {
  // The model calls a tool, breaks down in the middle of its next answer, and then gives that answer.
  const calls = [{ id: 'call-1', name: 'count', input: { to: 3 } }];
  const answers = [{ calls }, { hang: 'One, tw' }, { text: ['One, two, three'] }];
  const models = await serveModel((_, number) => answers[number - 1] ?? { status: 500, body: '{}' });
  onTestFinished(() => models[Symbol.asyncDispose]());
  const folder = temporaryFolder();
  const PORT = String(await freePort());
  const env = { PORT, DATABASE: join(folder, 'tasks.db'), NOTES: join(folder, 'notes'), MODEL: models.url };
  let command: Command | undefined;
  onTestFinished(async () => command?.[Symbol.asyncDispose]());
  const program = await builtProgram(new URL('./agent-process.ts', import.meta.url));
  const start = async (HANG = '') => {
    command = run(node, [program], { env: { ...env, HANG } });
    await command.until(/counter is at http/);
  };
  const kill = async () => {
    command!.signal('SIGKILL');
    await command!.ended;
  };
  const runs = () => readFileSync(env.NOTES, 'utf8').split('\n').length - 1;

  await start('yes');
  const client = await connect(`http://127.0.0.1:${PORT}`);
  const { task } = await client.send('Count', { returnImmediately: true });
  await eventually(() => expect(runs()).toBe(1));
  await kill();
  expect(models.requests).toHaveLength(1);

  await start();
  await eventually(async () => {
    const { artifacts } = await client.getTask({ id: task!.id });
    expect(textOf(artifacts?.[0])).toBe('One, tw');
  });
  await kill();
  expect(runs()).toBe(2);
  expect(models.requests).toHaveLength(2);

  await start();
  const { task: done } = await client.follow(task!.id).result();
  expect(done?.status.state).toBe('TASK_STATE_COMPLETED');
  expect(textOf(done?.artifacts?.[0])).toBe('One, two, three');
  expect(runs()).toBe(2);
  expect(models.requests).toHaveLength(3);
  expect(models.requests[2]!.messages).toEqual(models.requests[1]!.messages);
});
