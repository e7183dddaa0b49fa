import { connect, textOf } from '@batonjs/client';
import { extend, taskTree } from '@batonjs/extensions';
import { TASK_TREE, treeOf } from '@batonjs/extensions/client';
import { type Agent, completed, inputRequired } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { clientOf, serveParent } from './family.ts';

/** Asks once. */
const asks: Agent = async function* ({ messages }) {
  if (messages.length === 1) return yield inputRequired('Which?');
  yield completed();
};

const leaf = extend({ card: { name: 'Leaf', description: 'Shows its parent' }, agent: asks }, taskTree);

/** A parent whose child asks. */
async function family() {
  const child = serve(leaf.agent, leaf);
  const server = serveParent(async function* (turn) {
    const { task } = await turn.call(child, 'Go', { name: 'leaf' });
    yield completed(textOf(task?.status.message));
  });
  const client = await clientOf(server);
  const task = (await client.send('Go')).task!;
  const [there] = (await (await clientOf(child)).listTasks()).tasks;
  return { child, server, client, task, there: there! };
}

const childOf = (taskId: string, state: string) => ({
  children: [{ name: 'leaf', agent: 'Leaf', taskId, state: `TASK_STATE_${state}` }],
});

describe('the tree', () => {
  it('is in every reply and event with a task, in both directions [R-SEED-18, R-EXT-04]', async () => {
    const { child, client, task, there } = await family();
    const { id } = task;
    const expected = childOf(there.id, 'INPUT_REQUIRED');
    expect(treeOf(task)).toEqual(expected);
    expect(treeOf(await client.getTask({ id }))).toEqual(expected);
    expect((await client.listTasks()).tasks.map((each) => treeOf(each))).toEqual([expected]);
    for await (const event of client.follow(id)) {
      expect(treeOf(event)).toEqual(expected);
      break;
    }
    const children = await clientOf(child);
    const parent = { taskId: id, name: 'leaf' };
    expect(treeOf(there)).toEqual({ parent, children: [] });
    expect(treeOf(await children.getTask({ id: there.id }))).toEqual({ parent, children: [] });
  });

  it('is in the status updates that tell of a child', async () => {
    const { server } = await family();
    const trees: unknown[] = [];
    for await (const event of (await clientOf(server)).stream('Go'))
      if (event.statusUpdate) trees.push(treeOf(event));
    expect(trees).toEqual([childOf(expect.any(String) as never, 'INPUT_REQUIRED')]);
  });

  it('names the child in the question, and the parent in the first message of the child [R-SEED-18]', async () => {
    const { child, task, there } = await family();
    expect(task.status.message?.referenceTaskIds).toEqual([there.id]);
    const { history } = await (await clientOf(child)).getTask({ id: there.id });
    expect(history?.[0]?.referenceTaskIds).toEqual([task.id]);
  });

  it('does not make the parent one of the tasks that the child misses', async () => {
    const child = serve(async function* (turn) {
      yield completed((await turn.references()).missing.join());
    });
    const server = serveParent(async function* (turn) {
      const { task } = await turn.call(child, 'Go', { name: 'leaf', references: ['other'] });
      yield completed(textOf(task?.status.message));
    });
    const { task } = await (await clientOf(server)).send('Go');
    expect(textOf(task?.status.message)).toBe('other');
  });

  it('is shown only where the extension is active, and never with the record of the agent', async () => {
    const { server, client, task } = await family();
    const plain = await connect('http://localhost', { fetch: (request) => server.fetch(request) });
    expect((await plain.getTask({ id: task.id })).metadata).toBeUndefined();
    const shown = JSON.stringify(await client.getTask({ id: task.id }));
    expect(shown).not.toMatch(/startedAt|record/);
  });

  it.each([
    ['no object', 'x'],
    ['no text for an id', { parent: { taskId: 7, name: 'a' } }],
    ['an empty name', { parent: { taskId: 't', name: '' } }],
    ['a very long id', { parent: { taskId: 'x'.repeat(1_000), name: 'a' } }],
  ])('leaves out a parent that a caller makes up in another shape: %s [R-EXT-07]', async (_, metadata) => {
    const client = await clientOf(serve(leaf.agent, leaf));
    const message = { parts: [{ text: 'Go' }], metadata: { [TASK_TREE]: metadata } };
    const { task } = await client.send(message as never);
    expect(treeOf(task!)).toEqual({ children: [] });
  });
});

it.each([undefined, null, 7, [], { children: 'x' }, { children: [{ name: 'a' }] }, { children: [null] }])(
  'a client reads no tree from %j',
  (tree) => {
    const task = {
      id: 't',
      status: { state: 'TASK_STATE_WORKING' as const },
      metadata: { [TASK_TREE]: tree },
    };
    expect(treeOf(task as never)).toBeUndefined();
  },
);
