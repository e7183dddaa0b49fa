import { eraseTasks } from '@batonjs/operator';
import { createAgentServer } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { collect, rpc, say, stream } from '../kit/rpc.ts';
import { scope } from '../kit/scope.ts';
import { until } from '../kit/until.ts';
import { builtProgram } from '../support/built-program.ts';
import { erasingOptions } from './erasing-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';
import { storePlaces } from './store-places.ts';

const places = await storePlaces();
const eraseAndFork = await builtProgram(new URL('./erase-and-fork.ts', import.meta.url));
const configuration = { returnImmediately: true };

/** A server in this process, and a process that does what it is asked on the same store. */
async function beside(kind: StoreAddress['kind']) {
  const address = places.address(kind);
  const errors: string[] = [];
  const store = closedAfterTest(openStore(address));
  const here = closedAfterTest(createAgentServer({ ...erasingOptions(errors), store }));
  const process = run(node, [eraseAndFork, JSON.stringify(address)]);
  const url = /^ready (.+)$/m.exec(await process.until(/^ready .+$/m))![1]!;
  const there = async (act: 'erase' | 'fork' | 'errors', given: unknown = {}) =>
    (await fetch(url, { method: 'POST', body: JSON.stringify({ act, given }) })).json();
  const texts = async () => {
    const { tasks } = await store.list(scope, { limit: 1_000, answered: true });
    return tasks.map(({ taskId }) => taskId);
  };
  return { here, errors, store, process, there, texts };
}

/** How something ended: the name of the error, if it failed. */
const ended = <T>(work: Promise<T>): Promise<T | string> =>
  work.catch((error: { reason?: string; message: string }) => error.reason ?? error.message);

describe.each(places.kinds)('two processes on %s', (kind) => {
  it('that erase a task at once both say so; its clients hear that it is not found, and nothing was lost', async () => {
    const { here, there, errors, process } = await beside(kind);
    await using _ = process;
    for (let n = 0; n < repetitions(6, 30); n++) {
      const { task } = await rpc(here, 'SendMessage', { message: say('go'), configuration });
      const { id } = task;
      await until(here, id, 'WORKING');
      const clients = [
        ended(collect(stream(here, 'SubscribeToTask', { id }))),
        ended(rpc(here, 'SendMessage', { message: say('more', { taskId: id }) })),
        ended(rpc(here, 'CancelTask', { id })),
      ];
      const erased = await Promise.all([eraseTasks(here, { taskId: id }), there('erase', { taskId: id })]);
      expect(erased).toEqual(erased.map(() => expect.objectContaining({ left: [] })));
      expect(erased.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(1);
      for (const heard of await Promise.all(clients))
        if (typeof heard === 'string')
          expect(['TASK_NOT_FOUND', 'TASK_NOT_CANCELABLE', 'UNSUPPORTED_OPERATION']).toContain(heard);
      await expect(rpc(here, 'GetTask', { id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    }
    expect([...errors, ...(await there('errors'))]).toEqual([]);
  });

  it('that erase all of a caller at once leave none of it', async () => {
    const { here, there, errors, texts, process } = await beside(kind);
    await using _ = process;
    const many = repetitions(20, 70);
    for (let n = 0; n < many; n++)
      await rpc(here, 'SendMessage', { message: say(n % 2 ? 'go' : 'fail'), configuration });
    const erased = await Promise.all([eraseTasks(here, {}), there('erase')]);
    expect(erased).toEqual(erased.map(() => expect.objectContaining({ left: [] })));
    expect(erased.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(many);
    expect(await texts()).toEqual([]);
    expect([...errors, ...(await there('errors'))]).toEqual([]);
  });

  it('leave nothing of an erased context, though the other one forks its tasks', async () => {
    const { here, there, errors, texts, process } = await beside(kind);
    await using _ = process;
    for (let n = 0; n < repetitions(3, 25); n++) {
      const contextId = `context ${n}`;
      const ids: string[] = [];
      for (let task = 0; task < 8; task++)
        ids.push((await rpc(here, 'SendMessage', { message: say('fail', { contextId }) })).task.id);
      const forks = Promise.all(ids.map((id) => there('fork', id)));
      // Some before, some in the middle, some after.
      await there('fork', ids[0]);
      const { left } = await eraseTasks(here, { contextId });
      expect([left, await texts()]).toEqual([[], []]);
      for (const fork of await forks)
        if (typeof fork !== 'string') expect(fork).toEqual({ error: 'TASK_NOT_FOUND' });
      expect(await texts()).toEqual([]);
    }
    expect([...errors, ...(await there('errors'))]).toEqual([]);
  });
});
