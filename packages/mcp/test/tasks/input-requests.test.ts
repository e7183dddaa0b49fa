import type { Message, Task } from '@batonjs/protocol';
import { expect, it } from 'vitest';
import { declared, rawClient } from '../../../../test/kit/http/raw-mcp-client.ts';
import { ClosedQuestions, inputRequestsOf } from '../../src/tasks/input-requests.ts';
import { closedGate, serveAgent, serveMcp } from '../clients.ts';

const waiting = (state: string, ...parts: Message['parts']): Task => ({
  id: 't',
  contextId: 'c',
  status: {
    state: `TASK_STATE_${state}` as Task['status']['state'],
    timestamp: '2026-01-01T00:00:00.000Z',
    ...(parts.length > 0 && { message: { messageId: 'm', role: 'ROLE_AGENT', parts } }),
  },
});
const asked = (task: Task, client: object = declared.urls) =>
  inputRequestsOf(task, client, new ClosedQuestions());

it.each([
  ['without words', waiting('AUTH_REQUIRED')],
  [
    'without an address',
    waiting('AUTH_REQUIRED', { text: 'Sign in' }, { data: { url: 'https://a.example' } }),
  ],
  ['with what is no address', waiting('AUTH_REQUIRED', { text: 'At https://[' })],
  ['that works', waiting('WORKING', { text: 'https://a.example' })],
])('[R-MT-52, R-MT-53] a task %s asks its client nothing', (_what, task) =>
  expect(asked(task)).toBeUndefined(),
);

it('[R-MT-52, R-MT-53] a client that shows neither forms nor addresses is asked nothing', () => {
  expect(asked(waiting('INPUT_REQUIRED', { text: 'Who?' }), {})).toBeUndefined();
  expect(asked(waiting('AUTH_REQUIRED', { text: 'https://a.example' }), declared.forms)).toBeUndefined();
});

it('[R-MT-51] a question without words is asked under a key of its own, and answered once', async () => {
  const [gate, turns] = [closedGate(), [] as number[]];
  const { agent } = await serveAgent({
    card: { name: 'Silent', description: 'Asks without words' },
    async *agent({ messages }) {
      turns.push(messages.length);
      await gate.open;
      if (messages.length === 1) yield { status: { state: 'TASK_STATE_INPUT_REQUIRED' } };
      else yield { status: { state: 'TASK_STATE_COMPLETED' } };
    },
  } as Parameters<typeof serveAgent>[0]);
  const { url } = await serveMcp(agent);
  const client = rawClient(url);
  const { taskId } = (await client.tool('Silent', { message: 'Go' })).result;
  gate.release();
  await expect.poll(async () => (await client.get(taskId)).result.status).toBe('input_required');
  const { inputRequests } = (await client.get(taskId)).result;
  const [key = ''] = Object.keys(inputRequests);
  expect(inputRequests[key].params.message).toBe('The agent waits for an answer.');
  const answer = { [key]: { action: 'accept', content: { answer: 'Ann' } } };
  expect((await client.update(taskId, answer)).result.resultType).toBe('complete');
  await expect.poll(async () => (await client.get(taskId)).result.status).toBe('completed');
  expect(turns).toEqual([1, 2]);
});
