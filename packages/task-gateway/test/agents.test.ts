import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { connect } from '@batonjs/client';
import { TYPED_SKILLS } from '@batonjs/extensions/client';
import {
  type AgentServer,
  artifact,
  authRequired,
  completed,
  data,
  rejected,
  reply,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { serveTasks } from './service.ts';

const task = (type: string) => ({ taskId: 't', type, data: { text: 'Hello' } });

describe('an agent', () => {
  it('that is out of reach is tried again until it is there', async () => {
    const port = await freePort();
    const service = await serveTasks({ types: { late: `http://127.0.0.1:${port}` } });
    await service.post('/task', task('late'));
    const listener = createServer(nodeHandler(serve(() => reply('Here I am'))));
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
    await using _ = { [Symbol.asyncDispose]: async () => void listener.close().closeAllConnections() };
    expect(await service.ended('t')).toMatchObject({ status: 'completed', result: { text: 'Here I am' } });
  });

  it('that stays out of reach makes the task fail with AGENT_UNREACHABLE, and canceling it needs no agent', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const impatient = await serveTasks({ types: { gone: url }, unreachableMs: 50 });
    await impatient.post('/task', task('gone'));
    expect(await impatient.ended('t')).toMatchObject({
      status: 'failed',
      error: { code: 'AGENT_UNREACHABLE' },
    });
    const service = await serveTasks({ types: { gone: url } });
    expect((await service.post('/task', task('gone'))).body.status).toBe('created');
    expect((await service.post('/task/t/cancel')).body.status).toBe('canceled');
  });

  it('that takes too long makes the task fail with TIMEOUT', async () => {
    const slow = serve(async function* ({ signal }) {
      yield working('Thinking');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const service = await serveTasks({ types: { slow }, timeoutMs: 300 });
    await service.post('/task', task('slow'));
    expect(await service.ended('t')).toMatchObject({ status: 'failed', error: { code: 'TIMEOUT' } });
    // The agent is asked to stop.
    const agent = await connect('http://localhost', { fetch: (request) => slow.fetch(request) });
    await eventually(async () => {
      const { tasks } = await agent.listTasks();
      expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED']);
    });
  });

  it('that rejects makes the task fail with its code', async () => {
    const picky = serve(async function* () {
      yield rejected([{ text: 'Too big' }, data({ code: 'TOO_BIG', message: 'Too big' })]);
    });
    const service = await serveTasks({ types: { picky } });
    await service.post('/task', task('picky'));
    expect((await service.ended('t')).error).toEqual({ code: 'TOO_BIG', message: 'Too big' });
  });

  it('whose output does not fit its schema makes the task fail with INVALID_OUTPUT', async () => {
    const schemas = {
      input: { type: 'object' },
      output: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    };
    const params = { skills: { add: schemas } };
    const liar = serve(
      async function* () {
        yield artifact('result', data({ sum: 3 }));
        yield completed();
      },
      {
        card: {
          name: 'Liar',
          description: 'Gives what it does not say',
          skills: [{ id: 'add', name: 'Add', description: 'Adds', tags: [] }],
          capabilities: { extensions: [{ uri: TYPED_SKILLS, params }] },
        },
      },
    );
    const service = await serveTasks({ types: { liar } });
    await service.post('/task', task('liar'));
    expect((await service.ended('t')).error.code).toBe('INVALID_OUTPUT');
  });

  it('that takes text only is sent text, and one that cannot stream is polled', async () => {
    const echo = serve(
      async function* ({ text }) {
        yield completed(`You said ${text}`);
      },
      {
        card: {
          name: 'Echo',
          description: 'Says it again',
          defaultInputModes: ['text/plain'],
          capabilities: { streaming: false },
        },
      },
    );
    const service = await serveTasks({ types: { echo: await listen(nodeHandler(echo)) } });
    await service.post('/task', task('echo'));
    expect(await service.ended('t')).toMatchObject({ result: { text: 'You said Hello' } });
  });

  it('that waits for an authorization goes on by itself or after an answer', async () => {
    const careful = serve(async function* ({ inbox }) {
      yield authRequired('Sign in first');
      const message = await inbox.take();
      yield completed(
        `Signed in as ${message?.parts.map((part) => ('text' in part ? part.text : '')).join('')}`,
      );
    });
    const service = await serveTasks({ types: { careful } });
    await service.post('/task', task('careful'));
    const { form } = await service.until('t', (shown) => shown.form);
    expect(form.title).toBe('Sign in first');
    expect((await service.post('/task/t/input', { values: { text: 'Ada' } })).status).toBe(202);
    expect(await service.ended('t')).toMatchObject({ result: { text: 'Signed in as Ada' } });
  });
});

describe('a gateway that dies after it sent the task to an agent without idempotency', () => {
  /** The agent over HTTP. The answer to its first message is lost; `lists` says whether it knows ListTasks. */
  const withLostAnswer = (agent: AgentServer, lists: boolean): Promise<string> => {
    let isFirst = true;
    return listen(async (request, response) => {
      const body = request.method === 'POST' ? await text(request) : undefined;
      if (body?.includes('"ListTasks"') && !lists) {
        const error = { code: -32601, message: 'Method not found' };
        const { id } = JSON.parse(body);
        return response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      }
      const headers = new Headers(request.headers as Record<string, string>);
      const url = `http://${request.headers.host}${request.url}`;
      const answer = await agent.fetch(
        new Request(url, { method: request.method!, headers, body: body ?? null }),
      );
      if (body && isFirst) {
        isFirst = false;
        return;
      }
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    });
  };

  const afterDeath = async (lists: boolean) => {
    let runs = 0;
    const started = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        runs += 1;
        started.resolve();
        yield completed('Once');
      },
      { idempotency: false },
    );
    const types = { foreign: await withLostAnswer(server, lists) };
    const store = memoryStore();
    const first = await serveTasks({ types, store });
    await first.post('/task', task('foreign'));
    await started.promise;
    await first.gateway.close({ graceMs: 0 });
    const second = await serveTasks({ types, store });
    return { task: await second.ended('t'), runs };
  };

  it('finds the task there, and it runs once', async () => {
    const { task, runs } = await afterDeath(true);
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Once' } });
    expect(runs).toBe(1);
  });

  it('fails with OUTCOME_UNKNOWN rather than run it twice, if the agent lists no tasks', async () => {
    const { task, runs } = await afterDeath(false);
    expect(task).toMatchObject({ status: 'failed', error: { code: 'OUTCOME_UNKNOWN' } });
    expect(runs).toBe(1);
  });
});
