import { answer, connect, type MessageInput, type SendOptions } from '@batonjs/client';
import type { Message, SendMessageRequest, Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { peer, taskIn } from '../serve.ts';

/** The request that a peer receives. */
async function received(input: MessageInput, options?: SendOptions): Promise<SendMessageRequest> {
  const { url, calls } = await peer(({ result }) => result({ task: taskIn('COMPLETED') }));
  await (await connect(url)).send(input, options);
  return calls[0]!.params as unknown as SendMessageRequest;
}

const known = taskIn('INPUT_REQUIRED') as unknown as Task;

describe('send', () => {
  it('makes a message of text, with a fresh id each time [R-IDEM-03]', async () => {
    const [first, second] = [await received('hello'), await received('hello')];
    expect(first).toEqual({
      message: {
        role: 'ROLE_USER',
        messageId: expect.stringMatching(/^[\da-f]{32}$/),
        parts: [{ text: 'hello' }],
      },
    });
    expect(first.message.messageId).not.toBe(second.message.messageId);
  });

  it.each<[string, MessageInput, Message['parts']]>([
    ['a part', { data: { amount: 100 } }, [{ data: { amount: 100 } }]],
    ['parts', [{ text: 'a' }, { data: null }], [{ text: 'a' }, { data: null }]],
    ['a message', { parts: [{ text: 'a' }] }, [{ text: 'a' }]],
  ])('makes a message of %s', async (_, input, parts) => {
    expect((await received(input)).message.parts).toEqual(parts);
  });

  it('leaves a message that is complete as it is', async () => {
    const message: Message = {
      messageId: 'm-1',
      role: 'ROLE_USER',
      taskId: 't-9',
      parts: [{ text: 'a' }],
      metadata: { x: 1 },
    };
    expect((await received(message)).message).toEqual(message);
  });

  it('continues a task, given whole or by its id [R-CTX-04]', async () => {
    expect((await received('INR', { task: known })).message).toMatchObject({
      taskId: 't-1',
      contextId: 'c-1',
    });
    const byId = (await received('INR', { task: 't-7' })).message;
    expect(byId.taskId).toBe('t-7');
    expect(byId).not.toHaveProperty('contextId');
    expect((await received(answer(known, 'INR'))).message).toMatchObject({ taskId: 't-1', contextId: 'c-1' });
  });

  it('starts something new in the context of the tasks that it is about [R-REF-01]', async () => {
    const { message } = await received('in red', { references: [known, 't-2'] });
    expect(message).toMatchObject({ contextId: 'c-1', referenceTaskIds: ['t-1', 't-2'] });
    expect(message).not.toHaveProperty('taskId');
    expect((await received('x', { references: ['t-2'], contextId: 'c-9' })).message.contextId).toBe('c-9');
  });

  it('says how the answer should come', async () => {
    const options = {
      returnImmediately: true,
      configuration: { historyLength: 0 },
      metadata: { skill: 'x' },
    };
    expect(await received('hello', { ...options, messageId: 'm-7' })).toMatchObject({
      message: { messageId: 'm-7' },
      configuration: { returnImmediately: true, historyLength: 0 },
      metadata: { skill: 'x' },
    });
  });
});

describe('a task by its handle', () => {
  it('is asked like the agent, and about itself', async () => {
    const { url, calls } = await peer(({ call, result, event, end }) => {
      if (call.operation === 'SubscribeToTask') {
        event({ task: taskIn('COMPLETED') });
        return end();
      }
      return result(call.operation === 'SendMessage' ? { task: taskIn('WORKING') } : taskIn('WORKING'));
    });
    const task = (await connect(url)).task(known);
    await task.get();
    await task.send('INR');
    await task.cancel();
    await task.follow().result();
    expect(task.id).toBe('t-1');
    expect(
      calls.map(({ operation, params: { id, message } }) => [operation, id ?? (message as Message).taskId]),
    ).toEqual([
      ['GetTask', 't-1'],
      ['SendMessage', 't-1'],
      ['CancelTask', 't-1'],
      ['SubscribeToTask', 't-1'],
    ]);
  });
});
