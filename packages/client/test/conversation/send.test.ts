import { answer, connect, type MessageInput, type SendOptions } from '@batonjs/client';
import type { Message, SendMessageRequest, Task } from '@batonjs/protocol';
import { type AgentServerOptions, artifact, completed, inputRequired } from '@batonjs/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve as serveAgent } from '../../../../test/kit/serve.ts';
import { bothBindings, failureOf, peer, taskIn } from '../serve.ts';

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

describe('a blocking send that is answered before the task has ended', () => {
  /** A server whose task goes on until it is let go. */
  async function working(more: Partial<AgentServerOptions> = {}) {
    const held = Promise.withResolvers<void>();
    const server = serveAgent(
      async function* ({ text }) {
        yield artifact('a', 'some');
        await held.promise;
        yield text === 'ask' ? inputRequired('Well?') : completed();
      },
      { ...more, timeouts: { blockingMs: 1, ...more.timeouts } },
    );
    const asked: unknown[] = [];
    const fetch = async (request: Request) => {
      const { method } = await request.clone().json();
      if (asked.push(method) === 2) held.resolve();
      return server.fetch(request);
    };
    const agent = await connect(
      { ...server.card, supportedInterfaces: bothBindings('http://a.example').supportedInterfaces },
      { fetch },
    );
    return { agent, asked, server, held };
  }

  it.each([
    ['go', 'COMPLETED', {}],
    ['ask', 'INPUT_REQUIRED', {}],
    [
      'go',
      'COMPLETED',
      { card: { name: 'Test', description: 'Polled', capabilities: { streaming: false } } },
    ],
  ])('waits for the end of "%s"', async (text, state, options) => {
    const { agent, asked } = await working(options);
    const { task } = await agent.send(text);
    expect(task).toMatchObject({
      status: { state: `TASK_STATE_${state}` },
      artifacts: [{ artifactId: 'a' }],
    });
    expect(asked.slice(0, 2)).toEqual(['SendMessage', 'card' in options ? 'GetTask' : 'SubscribeToTask']);
  });

  it('answers with as much history as was asked for', async () => {
    const { agent } = await working();
    expect((await agent.send('go', { configuration: { historyLength: 0 } })).task?.history).toBeUndefined();
    const whole = await working();
    expect((await whole.agent.send('go')).task?.history).toHaveLength(1);
  });

  it('resolves to the task as it is when its time is over, and rejects for the signal of the caller', async () => {
    const server = serveAgent(
      async function* () {
        yield artifact('a', 'some');
        await new Promise(() => {});
      },
      { timeouts: { blockingMs: 1 } },
    );
    // The time is over once the client follows the task.
    let end = () => {};
    const clock = {
      now: Date.now,
      random: Math.random,
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          end = resolve;
          signal?.addEventListener('abort', () => resolve());
        }),
    };
    const endless = await connect('http://localhost', {
      clock,
      fetch: async (request) => {
        const isFollowing = (await request.clone().text()).includes('SubscribeToTask');
        const response = await server.fetch(request);
        if (isFollowing) end();
        return response;
      },
    });
    const { task } = await endless.send('go');
    expect(task?.status.state).toMatch(/_(SUBMITTED|WORKING)$/);
    const leaving = new AbortController();
    const sent = endless.send('go', { signal: leaving.signal });
    leaving.abort();
    expect(await failureOf(sent)).toMatchObject({ code: 'ABORTED' });
  });

  it('does not wait where that was not asked for', async () => {
    const { agent, asked, held } = await working();
    onTestFinished(() => held.resolve());
    const { task } = await agent.send('go', { returnImmediately: true });
    expect([task?.status.state, asked]).toEqual(['TASK_STATE_SUBMITTED', ['SendMessage']]);
  });
});

describe('a task by its handle', () => {
  it('is asked like the agent, and about itself', async () => {
    const { url, calls } = await peer(({ call, result, event, end }) => {
      if (call.operation === 'SubscribeToTask') {
        event({ task: taskIn('COMPLETED') });
        return end();
      }
      return result(call.operation === 'SendMessage' ? { task: taskIn('COMPLETED') } : taskIn('WORKING'));
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
