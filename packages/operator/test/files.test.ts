import { artifact, completed, file } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { rpc } from '../../../test/kit/rpc.ts';
import { bytesAt, large, raw, send, serveFiles, uploaded } from '../../server/test/files/serve-files.ts';
import { eraseTasks, forkTask } from '../src/index.ts';

const served = () =>
  serveFiles(async function* () {
    yield artifact('a', file(large('made')));
    yield completed();
  });

describe('operators', () => {
  it('erase the files of a task with it, and all of a caller', async () => {
    const { server, keys } = served();
    const make = (caller: string) => send(server, [{ text: 'make' }], { caller });
    const [first] = [await make('ana'), await make('ana'), await make('bob')];
    await uploaded(server, large());
    await eraseTasks(server, { caller: 'ana', taskId: first!.id });
    expect(await keys()).toHaveLength(3);
    const foreseen = await eraseTasks(server, { caller: 'ana', dryRun: true });
    expect([foreseen, await keys()]).toMatchObject([{ tasks: 1, files: 2 }, { length: 3 }]);
    expect(await eraseTasks(server, { caller: 'ana' })).toMatchObject({ files: 2 });
    expect(await keys()).toHaveLength(1);
  });

  it('fork a task with its files, which stay when the origin goes', async () => {
    const { server, store, keys } = served();
    const task = await send(server, [{ raw: raw(large('sent')), mediaType: 'image/png' }]);
    const options = { caller: 'ana' };
    await expect(forkTask({ store, name: 'agent' }, task.id, options)).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
    const id = await forkTask(server, task.id, options);
    await expect
      .poll(async () => (await rpc(server, 'GetTask', { id }, { 'x-caller': 'ana' })).status.state)
      .toBe('TASK_STATE_COMPLETED');
    expect(await eraseTasks(server, { ...options, dryRun: true })).toMatchObject({
      tasks: 2,
      forks: 1,
      files: 4,
    });
    await eraseTasks(server, { caller: 'ana', taskId: task.id });
    const { history } = await rpc(server, 'GetTask', { id }, { 'x-caller': 'ana' });
    expect(await bytesAt(server, history[0].parts[0].url)).toEqual(large('sent'));
    expect((await keys()).filter((key) => key.includes(task.id))).toEqual([]);
  });

  it('fork a task with the files that its turn is about to read, in its message and in its steps', async () => {
    let erased = Promise.resolve();
    const { server, keys } = serveFiles(async function* ({ message, step, saveFile, file: open }) {
      const saved = await step('save', () => saveFile(large('saved')));
      await erased;
      const [sent] = message.parts;
      expect([await open(sent!).text(), await open(saved).text()].map((text) => text.slice(0, 5))).toEqual([
        'sents',
        'saved',
      ]);
      yield artifact('both', sent!, saved);
      yield completed();
    });
    const { id: origin } = await send(server, [{ raw: raw(large('sent')), mediaType: 'image/png' }]);
    const { promise, resolve } = Promise.withResolvers<void>();
    erased = promise;
    const caller = 'ana';
    const forks = [
      await forkTask(server, origin, { caller }),
      await forkTask(server, origin, { caller, from: 'save' }),
    ];
    await eraseTasks(server, { caller, taskId: origin });
    resolve();
    for (const id of forks) {
      const get = () => rpc(server, 'GetTask', { id }, { 'x-caller': caller });
      await expect.poll(async () => (await get()).status.state).toBe('TASK_STATE_COMPLETED');
      const links = (await get()).artifacts[0].parts.map(({ url }: { url: string }) => url);
      expect(await bytesAt(server, links[0])).toEqual(large('sent'));
      expect(await bytesAt(server, links[1])).toEqual(large('saved'));
    }
    expect((await keys()).some((key) => key.includes(origin))).toBe(false);
  });
});
