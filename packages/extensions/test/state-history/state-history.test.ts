import type { Task } from '@batonjs/protocol';
import { authRequired, completed, inputRequired, reply, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { STATE_HISTORY, transitionsOf } from '../../src/client.ts';
import { extend, stateHistory } from '../../src/index.ts';
import { card, serve } from '../serve.ts';

const asking = extend(
  {
    card,
    async *agent({ text }) {
      yield working('Looking');
      yield working('Still looking');
      if (text === 'go') yield inputRequired('Which one?');
      else yield completed();
    },
  },
  stateHistory,
);

describe('the changes of a task’s state', () => {
  it.each(['JSONRPC', 'HTTP+JSON'])(
    'are shown by GetTask to clients that activate the extension, over %s [R-EXT-01, R-EXT-04, R-SEED-15]',
    async (binding) => {
      const agent = await serve(asking).client({ extensions: [STATE_HISTORY], binding });
      const { task } = await agent.send('go');
      await agent.send('the first', { task: task! });
      const shown = await agent.getTask({ id: task!.id });
      const transitions = transitionsOf(shown)!;
      expect(transitions.map(({ from, to }) => [from, to])).toEqual([
        [undefined, 'TASK_STATE_SUBMITTED'],
        ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
        ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED'],
        ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING'],
        ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'],
      ]);
      for (const [n, { at, sequence }] of transitions.entries()) {
        expect(new Date(at).toISOString()).toBe(at);
        expect(sequence).toBeGreaterThan(transitions[n - 1]?.sequence ?? 0);
      }
      expect(transitions.at(-1)!.at).toBe(shown.status.timestamp);
      const texts = new Map(shown.history!.map(({ messageId, parts }) => [messageId, parts]));
      expect(transitions.map(({ messageId }) => messageId && texts.get(messageId))).toEqual([
        undefined,
        [{ text: 'Looking' }],
        [{ text: 'Which one?' }],
        undefined,
        undefined,
      ]);
    },
  );

  it('are those of the whole task, however long its log is', async () => {
    const long = extend(
      {
        card,
        async *agent() {
          for (let n = 0; n < 1_200; n++) yield working(`Page ${n}`);
          yield completed();
        },
      },
      stateHistory,
    );
    const agent = await serve(long).client({ extensions: [STATE_HISTORY] });
    const { task } = await agent.send('go');
    const transitions = transitionsOf(await agent.getTask({ id: task!.id, historyLength: 0 }))!;
    expect(transitions.map(({ to }) => to)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
  });

  it('are the newest 1,000, with the number of those left out', async () => {
    const restless = extend(
      {
        card,
        async *agent() {
          for (let n = 0; n < 600; n++) {
            yield working();
            yield authRequired('Sign in');
          }
          yield completed();
        },
      },
      stateHistory,
    );
    const agent = await serve(restless).client({ extensions: [STATE_HISTORY] });
    const { task } = await agent.send('go', { returnImmediately: true });
    for await (const _ of agent.follow(task!));
    const shown = await agent.getTask({ id: task!.id, historyLength: 0 });
    expect(transitionsOf(shown)).toHaveLength(1_000);
    expect(transitionsOf(shown)!.at(-1)!.to).toBe('TASK_STATE_COMPLETED');
    expect(shown.metadata?.[STATE_HISTORY]).toMatchObject({ omitted: 202 });
  });

  it('are not shown to other clients [R-EXT-01]', async () => {
    const { server, client } = serve(asking);
    expect(server.card.capabilities.extensions).toMatchObject([{ uri: STATE_HISTORY }]);
    const agent = await client();
    const { task } = await agent.send('go');
    const shown = await agent.getTask({ id: task!.id });
    expect(shown).not.toHaveProperty('metadata');
    expect(transitionsOf(shown)).toBeUndefined();
  });

  it('are not shown by an agent that does not declare the extension [R-EXT-02]', async () => {
    const agent = await serve({ card, agent: () => reply('Hello') }).client({ extensions: [STATE_HISTORY] });
    await agent.send('go');
    const { client } = serve({ card, agent: asking.agent });
    const other = await client({ extensions: [STATE_HISTORY] });
    const { task } = await other.send('go');
    expect(await other.getTask({ id: task!.id })).not.toHaveProperty('metadata');
  });

  it.each([undefined, 7, {}, { transitions: 7 }])('that have no list are none: %j [R-EXT-07]', (value) => {
    expect(transitionsOf(taskWith(value))).toBeUndefined();
  });

  it.each([
    null,
    'x',
    {},
    { to: 7, at: '2026-01-01T00:00:00.000Z', sequence: 1 },
    { to: 'DONE', at: '2026-01-01T00:00:00.000Z', sequence: 1 },
    { to: 'TASK_STATE_WORKING', at: 'soon', sequence: 1 },
    { to: 'TASK_STATE_WORKING', at: '2026-01-01T00:00:00.000Z', sequence: '1' },
  ])('that cannot be read are left out: %j [R-EXT-07]', (value) => {
    const good = { to: 'TASK_STATE_WORKING', at: '2026-01-01T00:00:00.000Z', sequence: 3 };
    expect(transitionsOf(taskWith({ transitions: [value, { ...good, from: 7, messageId: 7 }] }))).toEqual([
      good,
    ]);
  });
});

const taskWith = (value: unknown): Task => ({
  id: 't',
  contextId: 'c',
  status: { state: 'TASK_STATE_WORKING' },
  metadata: { [STATE_HISTORY]: value },
});
