import { inspect } from 'node:util';
import type { Task } from '@batonjs/protocol';
import { LABELS, TASK_TREE } from '@batonjs/protocol/headers';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';

import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { completed, failed, labels, type Turn, working } from '../../src/index.ts';

const card = (uris = [LABELS]) => ({
  name: 'Test',
  description: 'For tests',
  capabilities: { extensions: uris.map((uri) => ({ uri })) },
});
const active = { 'a2a-extensions': LABELS };

const agent = async function* ({ message }: Turn) {
  const [part] = message.parts;
  const text = part && 'text' in part ? part.text : '';
  if (text === 'wrong') yield labels(['eu', 'x'.repeat(65)]);
  yield { ...working('On it'), labels: ['eu', text ?? ''] };
  if (text === 'fails') yield failed({ code: 'NO_FUNDS', message: 'No funds' });
  yield completed('Done');
};

describe('the labels of a task', () => {
  it('are shown where the extension is active, and find it in lists, beside its code', async () => {
    const server = serve(agent, { card: card(), store: memoryStore() });
    for (const text of ['one', 'two', 'fails']) await rpc(server, 'SendMessage', { message: say(text) });
    const listed = async (params: object) => {
      const { tasks, totalSize } = await rpc(server, 'ListTasks', params, active);
      expect(totalSize).toBe(tasks.length);
      return tasks.map(({ metadata }: { metadata: Record<string, string[]> }) => metadata[LABELS]!.join());
    };
    // Two of them may have ended in the same millisecond.
    expect((await listed({ labels: ['eu'] })).toSorted()).toEqual(['eu,fails', 'eu,one', 'eu,two']);
    expect(await listed({ labels: ['two', 'eu'] })).toEqual(['eu,two']);
    expect(await listed({ labels: ['eu'], code: 'NO_FUNDS' })).toEqual(['eu,fails']);
    expect(await listed({ labels: [], skill: '', code: '' })).toHaveLength(3);
    expect(await listed({ skill: 'pay' })).toEqual([]);
    const { tasks } = await rpc(server, 'ListTasks', {});
    const plain = tasks.find(({ status }: Task) => status.state === 'TASK_STATE_FAILED');
    expect(plain).not.toHaveProperty('metadata');
    const { metadata } = await rpc(server, 'GetTask', { id: plain.id }, active);
    expect(metadata).toEqual({ [LABELS]: ['eu', 'fails'] });
  });

  it('are read from the heads of a page, and from the logs beside a tree', async () => {
    let loads = 0;
    const store = change(memoryStore(), {
      load: (load) => (scope, id) => {
        loads += 1;
        return load(scope, id);
      },
    });
    const server = serve(agent, { card: card([LABELS, TASK_TREE]), store });
    await rpc(server, 'SendMessage', { message: say('one') });
    loads = 0;
    const [task] = (await rpc(server, 'ListTasks', { labels: ['one'] }, active)).tasks;
    expect([loads, task.metadata]).toEqual([0, { [LABELS]: ['eu', 'one'] }]);
    const both = { 'a2a-extensions': `${LABELS}, ${TASK_TREE}` };
    const [beside] = (await rpc(server, 'ListTasks', {}, both)).tasks;
    expect(beside.metadata).toEqual({ [LABELS]: ['eu', 'one'], [TASK_TREE]: { children: [] } });
  });

  it('are of a page token: another filter refuses it', async () => {
    const server = serve(agent, { card: card() });
    for (const text of ['one', 'two']) await rpc(server, 'SendMessage', { message: say(text) });
    const { nextPageToken } = await rpc(server, 'ListTasks', { labels: ['eu'], pageSize: 1 }, active);
    const go = (params: object) =>
      rpc(server, 'ListTasks', { pageSize: 1, pageToken: nextPageToken, ...params }, active);
    expect((await go({ labels: ['eu'] })).tasks).toHaveLength(1);
    await expect(go({ labels: ['eu', 'one'] })).rejects.toThrow('pageToken');
  });

  it('are refused in lists where the extension is not active, and if no task can have them', async () => {
    const server = serve(agent, { card: card() });
    for (const params of [{ labels: ['eu'] }, { skill: 'pay' }, { code: 'NO_FUNDS' }])
      await expect(rpc(server, 'ListTasks', params)).rejects.toThrow(
        `${Object.keys(params)[0]} needs the extension ${LABELS}`,
      );
    await expect(rpc(server, 'ListTasks', { labels: ['eu', 'a\nb'] }, active)).rejects.toThrow('"a\\nb"');
  });

  it('fail the task of an agent that sets wrong ones, with a reason that names the label', async () => {
    const server = serve(agent, { card: card() });
    const { task } = await rpc(server, 'SendMessage', { message: say('wrong') });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task.status.message)).toContain('xxxx');
  });

  it('begin as `labelsOf` says, by message and caller, and a message to the task changes none', async () => {
    const server = serve(agent, {
      card: card(),
      run: 'workers',
      messages: {
        labelsOf: ({ parts: [part] }, caller) => [
          'text' in part! ? part.text! : '',
          caller?.scope ?? 'anonymous',
          'twice',
          'twice',
        ],
      },
    });
    const configuration = { returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say('first'), configuration });
    await rpc(server, 'SendMessage', { message: say('second', { taskId: task.id }), configuration });
    const { metadata } = await rpc(server, 'GetTask', { id: task.id }, active);
    expect(metadata[LABELS]).toEqual(['first', expect.any(String), 'twice']);
  });

  it('keep those of `labelsOf` when the agent sets its own, again or none, and are 16 in all', async () => {
    const server = serve(
      async function* (turn) {
        yield labels(['supplier:acme']);
        yield labels(['supplier:other', 'from:a']);
        if (turn.text === 'none') yield labels([]);
        if (turn.text === 'many') yield labels(Array.from({ length: 16 }, (_, n) => `${n}`));
        yield completed();
      },
      { card: card(), messages: { labelsOf: () => ['from:a', 'from:b'] } },
    );
    const labelled = async (text: string) => {
      const { task } = await rpc(server, 'SendMessage', { message: say(text) }, active);
      return [task.metadata[LABELS], task.status.state];
    };
    const own = ['from:a', 'from:b', 'supplier:other'];
    expect(await labelled('some')).toEqual([own, 'TASK_STATE_COMPLETED']);
    expect(await labelled('none')).toEqual([['from:a', 'from:b'], 'TASK_STATE_COMPLETED']);
    expect(await labelled('many')).toEqual([own, 'TASK_STATE_FAILED']);
  });

  it('refuse the message if `labelsOf` returns wrong ones, and only the logger hears which', async () => {
    const logged: unknown[] = [];
    const server = serve(agent, {
      messages: { labelsOf: () => ['canary'.repeat(20)] },
      logger: (...entry) => logged.push(entry),
    });
    const refused = await rpc(server, 'SendMessage', { message: say('go') }).catch((error: unknown) => error);
    expect(JSON.stringify(refused) + String(refused)).not.toContain('canary');
    expect(inspect(logged)).toContain('canarycanary');
    expect((await rpc(server, 'ListTasks', {})).tasks).toEqual([]);
  });
});
