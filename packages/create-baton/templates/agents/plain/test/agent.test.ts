import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, connect, textOf } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { runTurn } from '@batonjs/testing';
import { agent, card } from '../src/agent.ts';

test('an order gets a receipt', async () => {
  const { updates, steps } = await runTurn(agent, '3 boxes');
  const receipt = updates.find((update) => 'artifact' in update);
  assert.equal(textOf(receipt?.artifact), `3 boxes, order ${steps.order}`);
});

test('an order without a number is asked for it', async (context) => {
  const server = createAgentServer({ card, agent, store: memoryStore() });
  context.after(() => server.close());
  const client = await connect('http://localhost', { fetch: server.fetch });
  const { task: asking } = await client.send('some boxes');
  assert.equal(asking?.status.state, 'TASK_STATE_INPUT_REQUIRED');
  const { task } = await client.send(answer(asking, '12'));
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  assert.match(textOf(task.artifacts?.[0]), /^12 boxes, order /);
});
