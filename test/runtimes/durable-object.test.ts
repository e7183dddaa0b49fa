import { json } from 'node:stream/consumers';
import { connect, textOf } from '@batonjs/client';
import type { TaskStatusUpdateEvent } from '@batonjs/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { listen } from '../kit/listen.ts';
import { freePort } from '../kit/processes.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually } from '../kit/until.ts';
import { startWorkerd } from './workerd-process.ts';

const module = new URL('./object-worker.ts', import.meta.url);

/** Serves the object of the Worker on one folder, by one process after the other. */
async function office() {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const disk = temporaryFolder();
  const start = async () => {
    const process = await startWorkerd({
      module,
      classes: { Office: 'Office' },
      port,
      disk,
      environment: { PUBLIC_URL: url },
    });
    onTestFinished(() => process[Symbol.asyncDispose]());
    return process;
  };
  return { url, start };
}

/** A webhook that fails until it is opened. Then it keeps, for each task, what it was told. */
async function webhook() {
  const told = new Map<string, string[]>();
  let isOpen = false;
  const url = await listen(async (request, response) => {
    const { statusUpdate } = (await json(request)) as { statusUpdate?: TaskStatusUpdateEvent };
    if (isOpen && statusUpdate) {
      const { taskId, status } = statusUpdate;
      const text = [status.state.replace('TASK_STATE_', ''), textOf(status.message)].join(' ').trim();
      told.set(taskId, [...(told.get(taskId) ?? []), text]);
    }
    response.writeHead(isOpen ? 204 : 503).end();
  });
  const configuration = { taskPushNotificationConfig: { url, token: 'secret' } };
  return { told, open: () => (isOpen = true), options: { configuration, returnImmediately: true } };
}

describe('an agent in a Durable Object', () => {
  it('is the program of its page', async () => {
    const [code = ''] = codeBlocks('docs/operating/durable-objects.md');
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const environment = { PUBLIC_URL: url };
    await using _workerd = await startWorkerd({ module: code, classes: { ECHO: 'Echo' }, port, environment });
    const { message } = await (await connect(url)).send('Hello');
    expect(textOf(message)).toBe('Hello');
  });

  it('is sent to, streams, asks, goes on with the answer, and is canceled', async () => {
    const { url, start } = await office();
    await start();
    const agent = await connect(`${url}/steady`);
    const { task } = await agent.send('Ada');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task?.artifacts?.[0])).toBe('Dear Ada');
    const kinds: string[] = [];
    for await (const event of agent.stream('Ada')) kinds.push(...Object.keys(event));
    expect(kinds).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);

    const asked = (await agent.send('ask')).task!;
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = (await agent.send('Grace', { task: asked })).task!;
    expect(textOf(answered.artifacts?.[0])).toBe('Dear Grace');

    const slow = (await agent.send('slow', { returnImmediately: true })).task!;
    const canceled = await agent.task(slow.id).cancel();
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    const other = await connect(`${url}/brittle`);
    await expect(other.task(slow.id).get()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('that is killed is woken by its alarm: turns are taken over, sleepers wake, webhooks are told', async () => {
    const { url, start } = await office();
    const hook = await webhook();
    const first = await start();
    const [steady, brittle] = [await connect(`${url}/steady`), await connect(`${url}/brittle`)];
    const rerun = (await steady.send('slow', hook.options)).task!;
    const asleep = (await steady.send('sleep', hook.options)).task!;
    const failing = (await brittle.send('slow', hook.options)).task!;
    for (const one of [steady.task(rerun.id), steady.task(asleep.id), brittle.task(failing.id)])
      await eventually(async () => expect((await one.get()).status.state).toBe('TASK_STATE_WORKING'));
    first.signal('SIGKILL');
    await first.ended;

    hook.open();
    // No request is made: only the alarm starts the object.
    await start();
    const rerunTold = ['WORKING attempt 1', 'WORKING attempt 2', 'COMPLETED'];
    await eventually(() => expect(hook.told.get(rerun.id)).toEqual(rerunTold));
    await eventually(() =>
      expect(hook.told.get(failing.id)).toEqual(['WORKING attempt 1', expect.stringMatching(/^FAILED/)]),
    );
    await eventually(() => expect(hook.told.get(asleep.id)?.at(-1)).toBe('COMPLETED'));
    expect(textOf((await steady.task(rerun.id).get()).artifacts?.[0])).toBe('Dear slow');
  });

  it('that is killed with more turns than one claim takes has them all taken over', async () => {
    const { url, start } = await office();
    const first = await start();
    const brittle = await connect(`${url}/brittle`);
    const sent = await Promise.all(
      Array.from({ length: 40 }, () => brittle.send('slow', { returnImmediately: true })),
    );
    first.signal('SIGKILL');
    await first.ended;
    await start();
    for (const { task } of sent)
      await eventually(async () =>
        expect((await brittle.task(task!.id).get()).status.state).toBe('TASK_STATE_FAILED'),
      );
  });
});
