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
  inputRequired,
  rejected,
  reply,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveLeadingCard } from '../../../test/kit/http/card-that-leads.ts';
import { listen } from '../../../test/kit/listen.ts';
import { passableClock } from '../../../test/kit/passable-clock.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
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

  it('leads the gateway to no address of its network, unless the gateway allows it', async () => {
    const { url, port, asked } = await serveLeadingCard();
    const careful = await serveTasks({ types: { far: url }, unreachableMs: 50 });
    await careful.post('/task', task('far'));
    expect(await careful.ended('t')).toMatchObject({ status: 'failed' });
    expect(asked).toEqual([]);
    const addresses = { allow: [`127.0.0.1:${port}`] };
    const open = await serveTasks({ types: { far: url }, addresses });
    await open.post('/task', task('far'));
    expect(await open.ended('t')).toMatchObject({ status: 'completed', result: { text: 'From inside' } });
    expect(asked).toEqual(['POST /internal/message:send']);
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
    const service = await serveTasks({ types: { slow }, timeoutMs: 2_000 });
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

  it('whose schema takes too many steps fails each task once with UNREADABLE_SCHEMA', async () => {
    const to = (level: number) => ({ $ref: `#/$defs/d${level}` });
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, level) => [
        `d${level}`,
        level < 59 ? { anyOf: [to(level + 1), to(level + 1)] } : {},
      ]),
    );
    const params = { skills: { add: { input: { ...to(0), $defs } } } };
    let turns = 0;
    const bomb = serve(
      () => {
        turns += 1;
        return reply('Never');
      },
      {
        card: {
          name: 'Bomb',
          description: 'Doubles',
          capabilities: { extensions: [{ uri: TYPED_SKILLS, params }] },
        },
      },
    );
    const service = await serveTasks({ types: { bomb } });
    for (const taskId of ['a', 'b', 'c']) {
      await service.post('/task', { ...task('bomb'), taskId });
      expect((await service.ended(taskId)).error.code).toBe('UNREADABLE_SCHEMA');
    }
    expect(turns).toBe(0);
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
      { messages: { idempotency: false } },
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

describe('a task that waits with a form', () => {
  /** An agent that asks, and can be told to end without an answer. */
  const asking = () =>
    serve(async function* ({ messages, text }) {
      if (messages.length === 1) return yield inputRequired('How much?');
      yield completed(`You said ${text}`);
    });
  const shared = () => {
    const file = `${temporaryFolder()}/tasks.db`;
    return () => {
      const store = sqliteStore(file);
      onTestFinished(() => store.close());
      return store;
    };
  };

  it('is canceled when another client cancels it at the agent', async () => {
    const agent = asking();
    const service = await serveTasks({ types: { ask: agent } });
    await service.post('/task', task('ask'));
    await service.until('t', ({ form }) => form);
    const other = await connect('http://localhost', { fetch: (request) => agent.fetch(request) });
    const [{ id } = { id: '' }] = (await other.listTasks()).tasks;
    await other.cancelTask({ id });
    expect(await service.ended('t')).toMatchObject({ status: 'canceled' });
  });

  it('fails when it fails at the agent meanwhile', async () => {
    const { clock, pass } = passableClock();
    const agent = serve(
      async function* () {
        yield inputRequired('How much?');
      },
      {
        clock,
        timeouts: { interruptedMs: 60_000, sweepMs: 50 },
        store: memoryStore({ now: clock.now }),
      },
    );
    const service = await serveTasks({ types: { ask: agent } });
    await service.post('/task', task('ask'));
    await service.until('t', ({ form }) => form);
    pass(60_000);
    expect(await service.ended('t')).toMatchObject({ status: 'failed' });
  });

  it('goes on when another client answers at the agent', async () => {
    const agent = asking();
    const service = await serveTasks({ types: { ask: agent } });
    await service.post('/task', task('ask'));
    await service.until('t', ({ form }) => form);
    const other = await connect('http://localhost', { fetch: (request) => agent.fetch(request) });
    const [asked] = (await other.listTasks()).tasks;
    await other.send('7', { task: asked!.id });
    expect(await service.ended('t')).toMatchObject({ result: { text: 'You said 7' } });
  });

  it('is canceled at an agent that cannot stream', async () => {
    const agent = serve(
      async function* () {
        yield inputRequired('How much?');
      },
      { card: { name: 'Ask', description: 'Asks', capabilities: { streaming: false } } },
    );
    const service = await serveTasks({ types: { ask: await listen(nodeHandler(agent)) } });
    await service.post('/task', task('ask'));
    await service.until('t', ({ form }) => form);
    const other = await connect('http://localhost', { fetch: (request) => agent.fetch(request) });
    const [{ id } = { id: '' }] = (await other.listTasks()).tasks;
    await other.cancelTask({ id });
    expect(await service.ended('t')).toMatchObject({ status: 'canceled' });
  });

  it('is answered once when its process dies before and after the answer', async () => {
    const open = shared();
    const agent = asking();
    const first = await serveTasks({ types: { ask: agent }, store: open() });
    await first.post('/task', task('ask'));
    const { form } = await first.until('t', (shown) => shown.form);
    await first.gateway.close({ graceMs: 0 });
    const second = await serveTasks({ types: { ask: agent }, store: open() });
    const again = await second.until('t', (shown) => shown.form);
    expect(again.form).toEqual(form);
    const input = { formId: form.formId, values: { text: '5' } };
    expect((await second.post('/task/t/input', input)).status).toBe(202);
    await second.gateway.close({ graceMs: 0 });
    const third = await serveTasks({ types: { ask: agent }, store: open() });
    expect(await third.ended('t')).toMatchObject({ result: { text: 'You said 5' } });
    const other = await connect('http://localhost', { fetch: (request) => agent.fetch(request) });
    const { tasks } = await other.listTasks({ historyLength: 100 });
    expect(tasks.map(({ history }) => history?.filter(({ role }) => role === 'ROLE_USER').length)).toEqual([
      2,
    ]);
  });

  it('is sent an answer that its process took and did not send', async () => {
    const open = shared();
    const agent = asking();
    // The connection to the agent of the first process breaks at the answer.
    const left = Promise.withResolvers<void>();
    const breaks = await connect('http://localhost', {
      fetch: async (request) => {
        if (!(await request.clone().text()).includes('"SendMessage"')) return agent.fetch(request);
        left.resolve();
        return new Promise<Response>((_, reject) => request.signal.addEventListener('abort', reject));
      },
    });
    const first = await serveTasks({ types: { ask: breaks }, store: open() });
    await first.post('/task', task('ask'));
    await first.until('t', ({ form }) => form);
    await first.post('/task/t/input', { values: { text: '5' } });
    await left.promise;
    await first.gateway.close({ graceMs: 0 });
    const second = await serveTasks({ types: { ask: agent }, store: open() });
    expect(await second.ended('t')).toMatchObject({ result: { text: 'You said 5' } });
  });

  it('does not send an answer to another question that the agent asks by now', async () => {
    const answers: string[] = [];
    const agent = serve(async function* ({ messages, text }) {
      const said = messages.filter(({ role }) => role === 'ROLE_USER').length;
      if (said > 1) answers.push(text);
      if (said < 3) return yield inputRequired(said === 1 ? 'How much?' : 'Which currency?');
      yield completed('Thank you');
    });
    const other = await connect('http://localhost', { fetch: (request) => agent.fetch(request) });
    // What the agent streams after its first question is held back.
    const late = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    let isHeld = false;
    const behind = await connect('http://localhost', {
      fetch: async (request) => {
        const body = await request.clone().text();
        const response = await agent.fetch(request);
        if (body.includes('"GetTask"') && isHeld) held.resolve();
        if (!body.includes('"SubscribeToTask"')) return response;
        const delayed = new TransformStream<Uint8Array, Uint8Array>({
          async transform(chunk, controller) {
            if (isHeld) await late.promise;
            controller.enqueue(chunk);
          },
        });
        return new Response(response.body!.pipeThrough(delayed), response);
      },
    });
    const service = await serveTasks({ types: { ask: behind } });
    await service.post('/task', task('ask'));
    const { form } = await service.until('t', (shown) => shown.form);
    isHeld = true;
    const [asked] = (await other.listTasks()).tasks;
    await other.send('7', { task: asked!.id });
    await service.post('/task/t/input', { formId: form.formId, values: { text: '5' } });
    await held.promise;
    late.resolve();
    await service.until('t', (shown) => shown.form?.title === 'Which currency?');
    await service.post('/task/t/input', { values: { text: 'USD' } });
    expect(await service.ended('t')).toMatchObject({ result: { text: 'Thank you' } });
    expect(answers).toEqual(['7', 'USD']);
  });

  it('fails with AGENT_UNREACHABLE when its answer cannot be sent', async () => {
    const agent = asking();
    const breaks = await connect('http://localhost', {
      retry: false,
      fetch: async (request) => {
        const body = await request.clone().text();
        if (body.includes('"SendMessage"')) throw new TypeError('fetch failed');
        return agent.fetch(request);
      },
    });
    const service = await serveTasks({ types: { ask: breaks }, unreachableMs: 100 });
    await service.post('/task', task('ask'));
    await service.until('t', ({ form }) => form);
    await service.post('/task/t/input', { values: { text: '5' } });
    expect(await service.ended('t')).toMatchObject({ error: { code: 'AGENT_UNREACHABLE' } });
  });
});
