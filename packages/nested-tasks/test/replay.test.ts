import { type CallingAgent, nestedTasks } from '@batonjs/nested-tasks';
import { type Agent, artifact, completed, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { recordTask, replayTask, type TaskRecording } from '@batonjs/testing';
import { expect, it } from 'vitest';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { clientOf } from './family.ts';

const card = { name: 'Parent', description: 'Calls others' };

/** The agent of a parent. In a replay its children are at an address that nothing answers. */
const parentOf = (agent: CallingAgent, child?: ReturnType<typeof serve>) =>
  nestedTasks({ card, agent, agents: { child: child ?? 'http://127.0.0.1:1' }, unreachableMs: 1 });

/** The recording of a parent that was sent these texts, one after the other. */
async function recorded(agent: CallingAgent, child: Agent, ...texts: string[]): Promise<TaskRecording> {
  const store = memoryStore();
  const { agent: parent, ...options } = parentOf(agent, serve(child));
  const client = clientOf(serve(parent, { ...options, store }));
  const { client: connected } = { client: await client };
  let task: Awaited<ReturnType<typeof connected.send>>['task'];
  for (const text of texts) task = (await connected.send(text, task ? { task } : {})).task;
  const recording = await recordTask(store, scope, task?.id ?? '');
  return JSON.parse(JSON.stringify(recording));
}

const shop: Agent = async function* ({ text }) {
  yield working(`Looking for ${text}`);
  yield artifact('offer', `${text} for 7`);
  yield completed('Found');
};

it('a call whose reply is in the log is not made, and what it passed on is no difference', async () => {
  const buys = (text: string): CallingAgent =>
    async function* ({ call, text: what, step }) {
      yield working('Asking');
      const { task } = await call('child', what, { name: 'offer' });
      const price = await step('price', () => JSON.stringify(task?.artifacts).length);
      yield completed(`${text} ${price > 0}`);
    };
  const recording = await recorded(buys('Bought'), shop, 'tea');
  expect(recording.facts.some(({ fact }) => fact.type === 'child-updated')).toBe(true);
  const same = await replayTask(parentOf(buys('Bought')).agent, recording);
  expect(same.differences).toEqual([]);
  const other = await replayTask(parentOf(buys('Sold')).agent, recording);
  expect(other.differences).toMatchObject([
    { kind: 'other-update', message: expect.stringContaining('Sold') },
  ]);
});

it('a call that is gone is a difference, and so is one that the log lacks', async () => {
  const calls = (...names: string[]): CallingAgent =>
    async function* ({ call }) {
      yield working('Asking');
      for (const name of names) await call('child', name, { name });
      yield completed();
    };
  const recording = await recorded(calls('one'), shop, 'go');
  expect((await replayTask(parentOf(calls('one')).agent, recording)).differences).toEqual([]);
  expect((await replayTask(parentOf(calls()).agent, recording)).differences).toHaveLength(1);
  expect((await replayTask(parentOf(calls('one', 'two')).agent, recording)).differences).toHaveLength(1);
});

it('a question of a child ends the replay of its turn, and the answer begins the next one', async () => {
  const asks: Agent = async function* ({ messages }) {
    if (messages.length === 1) return yield inputRequired('Which?');
    yield completed('Thanks');
  };
  const passesOn = (text: string): CallingAgent =>
    async function* ({ call }) {
      yield working('Asking');
      await call('child', 'go', { name: 'one' });
      yield completed(text);
    };
  const recording = await recorded(passesOn('Done'), asks, 'go', 'this one');
  const same = await replayTask(parentOf(passesOn('Done')).agent, recording);
  expect(same).toMatchObject({ turns: 2, differences: [] });
  const other = await replayTask(parentOf(passesOn('Over')).agent, recording);
  expect(other.differences).toMatchObject([{ kind: 'other-update', turn: 2 }]);
});
