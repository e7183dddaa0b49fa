import { getEventListeners } from 'node:events';
import { type AgentClient, connect } from '@batonjs/client';
import { type Agent, artifact, completed, reply, working } from '@batonjs/server';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { type Call, follow } from '../../src/server/follow.ts';
import { serveAgent } from '../clients.ts';

const skills = [{ id: 's', name: 'S', description: 'Does it', tags: [] }];
const card = { name: 'Test', description: 'For tests', skills };

/** The client with other members. */
const withMembers = (agent: AgentClient, members: object): AgentClient =>
  Object.create(agent, Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value }])));

describe('a task that is followed', () => {
  const held = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const agent: Agent = async function* ({ signal }) {
      yield working('On it');
      await Promise.race([promise, new Promise((end) => signal.addEventListener('abort', end))]);
      yield artifact('a', 'Result');
      yield completed();
    };
    return { agent, release: resolve };
  };

  /** A call of a client of MCP, which can leave. */
  async function calling(agent: AgentClient, more: Partial<Call> = {}, envelope?: object) {
    const leaving = new AbortController();
    const errors: unknown[] = [];
    const call: Call = {
      agent,
      context: { mcpReq: { signal: leaving.signal, envelope } } as never,
      extensions: [],
      waitMs: 0,
      cancelsTask: true,
      onError: (error) => errors.push(error),
      notify: async () => {},
      ...more,
    };
    return {
      call,
      leaving,
      errors,
      run: () => follow(call, (signal) => agent.stream('go', { signal }), true),
    };
  }

  it('leaves no listener and no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const { agent: holding, release } = held();
    release();
    const { agent } = await serveAgent({ card, agent: holding });
    const { leaving, run } = await calling(agent, { waitMs: 600_000 });
    const before = timers();
    expect((await run()).task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    await expect.poll(timers).toBeLessThanOrEqual(before);
  });

  it('is given back as it is after so many milliseconds', async () => {
    const { agent: holding, release } = held();
    const { agent } = await serveAgent({ card, agent: holding });
    const { run } = await calling(agent, { waitMs: 1 });
    expect((await run()).task?.status.state).toMatch(/SUBMITTED|WORKING/);
    release();
  });

  it.each([true, false])(
    'is canceled when its client leaves, where the call says so: %s',
    async (cancelsTask) => {
      const { agent: holding, release } = held();
      const { agent } = await serveAgent({ card, agent: holding });
      const notified: string[] = [];
      const { call, leaving, errors, run } = await calling(agent, {
        cancelsTask,
        notify: async ({ statusUpdate }) => {
          if (!statusUpdate) return;
          notified.push(statusUpdate.status.state);
          leaving.abort(new Error('Gone'));
        },
      });
      await expect(run()).rejects.toThrow('Gone');
      release();
      expect(notified).toEqual(['TASK_STATE_WORKING']);
      const { tasks } = await call.agent.listTasks();
      expect(tasks.map(({ status }) => status.state === 'TASK_STATE_CANCELED')).toEqual([cancelsTask]);
      expect(errors).toEqual([]);
    },
  );

  const closed = new SdkError(SdkErrorCode.ConnectionClosed, 'Closed');
  const late = new SdkError(SdkErrorCode.RequestTimeout, 'Late');
  const [enough, gone] = [new Error('Enough'), new Error('Gone')];

  it.each<[string, Error, object | undefined, 'left' | 'stays' | 'no request' | undefined, boolean]>([
    ['canceled its request', enough, undefined, undefined, true],
    ['canceled its request over HTTP', enough, undefined, 'stays', true],
    ['had no time left', late, undefined, undefined, true],
    ['lost its session', closed, undefined, undefined, false],
    ['lost its session over HTTP', closed, undefined, 'left', false],
    ['left its session over HTTP', gone, undefined, 'left', false],
    ['closed its request of 2026-07-28', closed, {}, 'left', true],
    ['was closed with the server', closed, {}, 'stays', false],
    ['was closed over stdio', closed, {}, undefined, false],
    ['was closed without a request', closed, {}, 'no request', false],
  ])('of a client that %s is canceled, or not', async (_what, reason, envelope, client, isCanceled) => {
    const { agent: holding, release } = held();
    const { agent } = await serveAgent({ card, agent: holding });
    const { call, leaving } = await calling(agent);
    const connection = new AbortController();
    const http = client && (client === 'no request' ? {} : { req: { signal: connection.signal } });
    const leave = async () => {
      if (reason !== gone) leaving.abort(reason);
      if (client === 'left') connection.abort(reason);
    };
    const followed = follow(
      {
        ...call,
        context: { mcpReq: { signal: leaving.signal, envelope }, http } as never,
        notify: leave,
      },
      (signal) => agent.stream('go', { signal }),
      true,
    );
    await expect(followed).rejects.toBe(reason);
    release();
    const { tasks } = await agent.listTasks();
    expect(tasks.map(({ status }) => status.state === 'TASK_STATE_CANCELED')).toEqual([isCanceled]);
  });

  it('whose cancellation fails is noted, and the client is told why it left', async () => {
    const { agent: holding, release } = held();
    const { agent } = await serveAgent({ card, agent: holding });
    const failing = withMembers(agent, {
      task: () => ({ cancel: () => Promise.reject(new Error('Not now')) }),
    });
    const { call, leaving, errors } = await calling(failing);
    const followed = follow(
      { ...call, notify: async () => leaving.abort(new Error('Gone')) },
      (signal) => agent.stream('go', { signal }),
      true,
    );
    await expect(followed).rejects.toThrow('Gone');
    release();
    expect(errors.map(String)).toEqual(['Error: Not now']);
  });

  it('throws what breaks it', async () => {
    const { agent } = await serveAgent({ card, agent: () => reply('x') });
    const { call } = await calling(agent);
    const missing = follow(call, (signal) => agent.follow('none', { signal }), false);
    await expect(missing).rejects.toThrow('Task not found');
  });

  it('ends with the message of an agent that makes no task', async () => {
    const { agent } = await serveAgent({ card, agent: () => reply('Hello') });
    const { run } = await calling(agent);
    expect((await run()).message?.parts).toMatchObject([{ text: 'Hello' }]);
  });

  it('is canceled as soon as the agent has named it, where its client left before', async () => {
    const began = Promise.withResolvers<void>();
    const named = Promise.withResolvers<void>();
    const { agent: holding } = held();
    const { server, agent: near } = await serveAgent({ card, agent: holding });
    const agent = await connect('http://localhost', {
      async fetch(request) {
        const isCall = request.method === 'POST';
        const response = await server.fetch(request);
        if (isCall) began.resolve();
        if (isCall) await named.promise;
        return response;
      },
    });
    const notified: unknown[] = [];
    const { leaving, run } = await calling(agent, { notify: async (event) => void notified.push(event) });
    const running = run();
    running.catch(() => {});
    await began.promise;
    leaving.abort(new Error('Gone'));
    named.resolve();
    await expect(running).rejects.toThrow('Gone');
    expect(notified).toEqual([]);
    expect((await near.listTasks()).tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED']);
  });
});
