import { get } from 'node:http';
import { approveExpense, card } from '@batonjs/expense-agent';
import { extend, formInput, inputRequired, progress, taskProgress } from '@batonjs/extensions';
import {
  type Agent,
  type AgentServer,
  artifact,
  canceled,
  completed,
  createAgentServer,
  data,
  reply,
  working,
} from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { type Service, serveTasks } from './service.ts';

const expense = () =>
  closedAfterTest(createAgentServer({ agent: approveExpense, card, store: memoryStore(), logger: () => {} }));

const data100 = { amount: 100, currency: 'USD' };

/** Works until it is canceled. */
const endless: Agent = async function* ({ signal }) {
  yield working('Started');
  await untilAborted(signal);
  yield canceled();
};

describe.each<[string, Parameters<typeof serveTasks>[1]]>([
  ['node:http', undefined],
  [
    'Express',
    (gateway) => {
      const app = express();
      app.use(express.json());
      app.use(a2aExpress(gateway));
      return app;
    },
  ],
])('over %s', (_, mount) => {
  let service: Service;
  beforeEach(async () => {
    service = await serveTasks({ types: { expense: expense() } }, mount);
  });

  it('prints a completed task as the seed does', async () => {
    const posted = await service.post('/task', {
      taskId: 'task-001',
      type: 'expense',
      data: data100,
      status: 'created',
    });
    expect(posted).toMatchObject({
      status: 202,
      body: { taskId: 'task-001', type: 'expense', data: data100 },
    });
    expect(posted.headers.get('location')).toBe(`${service.url}/task/task-001`);
    expect(['created', 'in_progress']).toContain(posted.body.status);
    const task = await service.ended('task-001');
    expect(task).toEqual({
      taskId: 'task-001',
      type: 'expense',
      data: data100,
      status: 'completed',
      result: { status: 'approved', message: 'Processed 100 USD' },
      sequence: expect.any(Number),
    });
    expect((await service.get('/task/task-001')).body).toEqual(task);
  });

  it('prints a failed task as the seed does', async () => {
    await service.post('/task', {
      taskId: 'task-002',
      type: 'expense',
      data: { amount: -5, currency: 'USD' },
    });
    expect(await service.ended('task-002')).toMatchObject({
      status: 'failed',
      error: { code: 'INVALID_INPUT', message: 'Amount must be positive' },
    });
  });

  it('serves no other name of this machine than its own, or than that of `publicUrl`', async () => {
    const ask = (host: string, { url } = service) =>
      new Promise<number | undefined>((resolve, reject) => {
        get(`${url}/task`, { headers: { host }, agent: false }, ({ statusCode }) => resolve(statusCode)).on(
          'error',
          reject,
        );
      });
    expect(await ask('evil.example')).toBe(403);
    expect(await ask('localhost')).toBe(200);
    const named = await serveTasks({ types: {}, publicUrl: 'https://tasks.example/' }, mount);
    expect(await ask('tasks.example', named)).toBe(200);
    expect(await ask('evil.example', named)).toBe(403);
  });

  it('answers a refusal in JSON', async () => {
    expect(await service.post('/task', '{')).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_REQUEST' } },
    });
  });
});

describe('a task', () => {
  it('fails with INVALID_INPUT when its data does not fit the input schema, and the agent is not asked', async () => {
    const server = expense();
    const service = await serveTasks({ types: { expense: server } });
    const { body } = await service.post('/task', { type: 'expense', data: { amount: 100 } });
    const task = await service.ended(body.taskId);
    expect(task.error).toEqual({ code: 'INVALID_INPUT', message: expect.stringContaining('currency') });
    expect(await tasksOf(server)).toBe(0);
  });

  it('fails with INVALID_TASK_TYPE when no agent does its type', async () => {
    const service = await serveTasks({ types: { expense: expense() } });
    for (const type of ['travel', 'expense/none', 'toString']) {
      const { status, body } = await service.post('/task', { type, data: {} });
      expect(status).toBe(202);
      const task = await service.ended(body.taskId);
      expect(task).toMatchObject({ status: 'failed', error: { code: 'INVALID_TASK_TYPE' } });
    }
  });

  it('may name one skill of an agent', async () => {
    const service = await serveTasks({ types: { finance: expense() } });
    const type = 'finance/approve-expense';
    await service.post('/task', { taskId: 'a', type, data: data100 });
    expect(await service.ended('a')).toMatchObject({ status: 'completed', type });
  });

  it('is not run again when it is submitted again', async () => {
    const server = expense();
    const service = await serveTasks({ types: { expense: server } });
    const first = { taskId: 't', type: 'expense', data: data100 };
    expect((await service.post('/task', first)).status).toBe(202);
    const reordered = { data: { currency: 'USD', amount: 100 }, type: 'expense', taskId: 't' };
    expect((await service.post('/task', reordered)).status).toBe(200);
    const task = await service.ended('t');
    expect(await service.post('/task', first)).toMatchObject({ status: 200, body: task });
    expect(await tasksOf(server)).toBe(1);
  });

  it.each([
    ['other data', { type: 'expense', data: { amount: 101, currency: 'USD' } }],
    ['another type', { type: 'expense/approve-expense', data: data100 }],
  ])('is not replaced by %s under its id', async (_, other) => {
    const service = await serveTasks({ types: { expense: expense() } });
    await service.post('/task', { taskId: 't', type: 'expense', data: data100 });
    expect(await service.post('/task', { taskId: 't', ...other })).toMatchObject({
      status: 409,
      body: { error: { code: 'TASK_CONFLICT' } },
    });
    expect((await service.ended('t')).data).toEqual(data100);
  });

  it('is run once when it is submitted at two processes at the same time', async () => {
    const file = `${temporaryFolder()}/tasks.db`;
    const ledger: string[] = [];
    const agent: Agent = async function* ({ values }) {
      ledger.push(String(values.n));
      yield artifact('result', data({ n: values.n }));
      yield completed();
    };
    const server = serve(agent, { messages: { idempotency: true } });
    const [one, other] = await Promise.all(
      [1, 2].map(async () => {
        const store = sqliteStore(file);
        onTestFinished(() => store.close());
        return serveTasks({ types: { count: server }, store });
      }),
    );
    const ids = Array.from({ length: 20 }, (_, n) => `task-${n}`);
    const statuses = await Promise.all(
      ids.map(async (taskId, n) => {
        const task = { taskId, type: 'count', data: { n } };
        const both = await Promise.all([one!.post('/task', task), other!.post('/task', task)]);
        return both.map(({ status }) => status).sort();
      }),
    );
    expect(statuses).toEqual(ids.map(() => [200, 202]));
    await Promise.all(ids.flatMap((id) => [one!.ended(id), other!.ended(id)]));
    expect(ledger.map(Number).sort((a, b) => a - b)).toEqual(ids.map((_, n) => n));
  });

  it('is the same after a restart, and is still not run again', async () => {
    const file = `${temporaryFolder()}/tasks.db`;
    const server = expense();
    const submission = { taskId: 't', type: 'expense', data: data100 };
    const before = sqliteStore(file);
    const first = await serveTasks({ types: { expense: server }, store: before });
    await first.post('/task', submission);
    const task = await first.ended('t');
    await first.gateway.close();
    await before.close();
    const after = sqliteStore(file);
    onTestFinished(() => after.close());
    const second = await serveTasks({ types: { expense: server }, store: after });
    expect(await second.post('/task', submission)).toMatchObject({ status: 200, body: task });
    expect(await tasksOf(server)).toBe(1);
  });
});

describe('GET /task/{taskId}', () => {
  it('answers a long poll with the next update, and with the task as it is when the time is over', async () => {
    const go = Promise.withResolvers<void>();
    const agent = extend(
      {
        card: { name: 'Slow', description: 'Waits' },
        agent: async function* () {
          yield working('Half', progress(1, 2));
          await go.promise;
          yield completed('Done');
        },
      },
      taskProgress,
    );
    const slow = closedAfterTest(createAgentServer({ ...agent, store: memoryStore(), logger: () => {} }));
    const service = await serveTasks({ types: { slow } });
    await service.post('/task', { taskId: 't', type: 'slow', data: {} });
    const half = await service.until('t', ({ progress }) => progress !== undefined);
    expect(half).toMatchObject({ status: 'in_progress', progress: 50 });
    const same = await service.get(`/task/t?after=${half.sequence}&wait=0.05`);
    expect(same.body).toEqual(half);
    const waiting = service.get(`/task/t?after=${half.sequence}&wait=30`);
    go.resolve();
    expect((await waiting).body).toMatchObject({ status: 'completed', result: { text: 'Done' } });
  });

  it('knows no task of another caller', async () => {
    const service = await serveTasks({
      types: { expense: expense() },
      authenticate: ({ headers }) => (headers.authorization ? { scope: headers.authorization } : undefined),
    });
    const [ada, ben] = [{ authorization: 'ada' }, { authorization: 'ben' }];
    const task = { taskId: 't', type: 'expense', data: data100 };
    expect((await service.post('/task', task)).body.error.code).toBe('UNAUTHENTICATED');
    expect((await service.post('/task', task, ada)).status).toBe(202);
    for (const path of ['/task/t', '/task/t/history'])
      expect(await service.get(path, ben)).toMatchObject({
        status: 404,
        body: { error: { code: 'TASK_NOT_FOUND' } },
      });
    expect((await service.get('/task', ben)).body).toEqual({ tasks: [] });
    // Ben may use the same id for a task of his own.
    expect((await service.post('/task', { ...task, data: { n: 1 } }, ben)).status).toBe(202);
    expect((await service.get('/task/t', ada)).body.data).toEqual(data100);
  });
});

describe('POST /task/{taskId}/cancel', () => {
  it('cancels the task here and at the agent, and answers a repeated request alike', async () => {
    const server = serve(endless);
    const service = await serveTasks({ types: { endless: server } });
    await service.post('/task', { taskId: 't', type: 'endless', data: {} });
    await service.until('t', ({ status }) => status === 'in_progress');
    const canceled = await service.post('/task/t/cancel');
    expect(canceled).toMatchObject({ status: 200, body: { taskId: 't', status: 'canceled' } });
    expect(canceled.body).not.toHaveProperty('result');
    expect(await service.post('/task/t/cancel')).toEqual({ ...canceled, headers: expect.anything() });
    expect(await tasksOf(server, 'TASK_STATE_CANCELED')).toBe(1);
  });

  it('refuses a task that has ended', async () => {
    const service = await serveTasks({ types: { expense: expense() } });
    await service.post('/task', { taskId: 't', type: 'expense', data: data100 });
    await service.ended('t');
    expect(await service.post('/task/t/cancel')).toMatchObject({
      status: 409,
      body: { error: { code: 'TASK_NOT_CANCELABLE', message: 'The task is completed' } },
    });
  });

  it('cancels a task at the agent that waits for an answer', async () => {
    const server = asking();
    const service = await serveTasks({ types: { ask: server } });
    await service.post('/task', { taskId: 't', type: 'ask', data: {} });
    await service.until('t', ({ form }) => form);
    expect((await service.post('/task/t/cancel')).body.status).toBe('canceled');
    expect(await tasksOf(server, 'TASK_STATE_CANCELED')).toBe(1);
  });
});

describe('POST /task/{taskId}/input', () => {
  it('answers the form of the agent, whose errors come back in the form', async () => {
    const service = await serveTasks({ types: { ask: asking() } });
    await service.post('/task', { taskId: 't', type: 'ask', data: {} });
    const asked = await service.until('t', ({ form }) => form);
    expect(asked).toMatchObject({
      status: 'in_progress',
      form: { formId: expect.any(String), schema: { required: ['currency'] } },
    });
    const { formId } = asked.form;
    expect((await service.post('/task/t/input', { formId: 'other', values: {} })).body.error.code).toBe(
      'INPUT_NOT_EXPECTED',
    );
    expect((await service.post('/task/t/input', { formId, values: { currency: 'Yen' } })).status).toBe(202);
    await service.until('t', ({ form }) => form?.errors?.currency);
    expect((await service.post('/task/t/input', { formId, values: { currency: 'JPY' } })).status).toBe(202);
    expect(await service.ended('t')).toMatchObject({ status: 'completed', result: { currency: 'JPY' } });
    expect((await service.post('/task/t/input', { values: {} })).body.error.code).toBe('INPUT_NOT_EXPECTED');
  });

  it('answers a question in words', async () => {
    const worded = serve(async function* ({ messages, text }) {
      if (messages.length === 1) return yield plainQuestion('Which currency?');
      yield completed(`It is ${text}`);
    });
    const service = await serveTasks({ types: { worded } });
    await service.post('/task', { taskId: 't', type: 'worded', data: {} });
    const { form } = await service.until('t', (task) => task.form);
    expect(form).toMatchObject({ title: 'Which currency?', schema: { required: ['text'] } });
    await service.post('/task/t/input', { formId: form.formId, values: { text: 'USD' } });
    expect(await service.ended('t')).toMatchObject({ result: { text: 'It is USD' } });
  });
});

describe('GET /task/{taskId}/history', () => {
  it('has every transition with time, sequence and message, in pages', async () => {
    const server = serve(async function* () {
      yield working('Reading');
      yield working('Writing');
      yield completed('Done');
    });
    const service = await serveTasks({ types: { write: server } });
    await service.post('/task', { taskId: 't', type: 'write', data: {} });
    const { sequence } = await service.ended('t');
    const { body } = await service.get('/task/t/history');
    expect(body.taskId).toBe('t');
    const shown = body.transitions.map(({ status, message }: Record<string, string>) => [status, message]);
    expect(shown[0]).toEqual(['created', undefined]);
    expect(shown.at(-1)).toEqual(['completed', 'Done']);
    expect(shown).toContainEqual(['in_progress', 'Writing']);
    const sequences = body.transitions.map((each: { sequence: number }) => each.sequence);
    expect(sequences).toEqual([...new Set<number>(sequences)].sort((a, b) => a - b));
    expect(sequences.at(-1)).toBe(sequence);
    for (const { time } of body.transitions) expect(new Date(time).toISOString()).toBe(time);

    const first = await service.get('/task/t/history?limit=1');
    const rest = await service.get(`/task/t/history?after=${first.body.next}`);
    expect([...first.body.transitions, ...rest.body.transitions]).toEqual(body.transitions);
  });
});

describe('GET /task', () => {
  it('lists tasks by status and type, in pages that miss and repeat none', async () => {
    const service = await serveTasks({ types: { expense: expense(), endless: serve(endless) } });
    for (let n = 1; n <= 5; n += 1) {
      await service.post('/task', {
        taskId: `e-${n}`,
        type: 'expense',
        data: { amount: n - 3, currency: 'USD' },
      });
      await service.ended(`e-${n}`);
    }
    await service.post('/task', { taskId: 'running', type: 'endless', data: {} });
    await service.until('running', ({ status }) => status === 'in_progress');
    const idsOf = async (query: string, cursor = ''): Promise<string[]> => {
      const { body } = await service.get(`/task?limit=2${query}${cursor}`);
      const ids = body.tasks.map(({ taskId }: { taskId: string }) => taskId);
      return body.cursor ? [...ids, ...(await idsOf(query, `&cursor=${body.cursor}`))] : ids;
    };
    expect(await idsOf('&type=expense')).toEqual(['e-5', 'e-4', 'e-3', 'e-2', 'e-1']);
    expect(await idsOf('&status=failed')).toEqual(['e-3', 'e-2', 'e-1']);
    expect(await idsOf('&status=completed')).toEqual(['e-5', 'e-4']);
    expect(await idsOf('&status=in_progress')).toEqual(['running']);
    expect((await idsOf('')).sort()).toEqual(['e-1', 'e-2', 'e-3', 'e-4', 'e-5', 'running']);
    const { body } = await service.get('/task?type=endless');
    expect(body.tasks).toEqual([(await service.get('/task/running')).body]);
  });
});

it('accepts nothing more once it is closed', async () => {
  const service = await serveTasks({ types: { hello: serve(() => reply('Hello')) } });
  await service.post('/task', { taskId: 't', type: 'hello', data: {} });
  expect(await service.ended('t')).toMatchObject({ result: { text: 'Hello' } });
  expect(await service.gateway.ready()).toBe(true);
  await service.gateway.close();
  expect(await service.get('/task/t')).toMatchObject({
    status: 503,
    body: { error: { code: 'UNAVAILABLE' } },
  });
});

const plainQuestion = (question: string) => ({
  status: {
    state: 'TASK_STATE_INPUT_REQUIRED' as const,
    message: { messageId: crypto.randomUUID(), role: 'ROLE_AGENT' as const, parts: [{ text: question }] },
  },
});

/** Asks for a currency with a form. */
function asking(): AgentServer {
  const form = z.object({ currency: z.string().regex(/^[A-Z]{3}$/) });
  const extended = extend(
    {
      card: { name: 'Asking', description: 'Asks' },
      agent: async function* ({ values }) {
        if (typeof values.currency !== 'string') return yield inputRequired('Which currency?', { form });
        yield artifact('result', data({ currency: values.currency }));
        yield completed();
      },
    },
    formInput,
  );
  return closedAfterTest(createAgentServer({ ...extended, store: memoryStore(), logger: () => {} }));
}

/** How many tasks an agent has. */
async function tasksOf(server: AgentServer, status?: string): Promise<number> {
  const query = status ? `?status=${status}` : '';
  const request = new Request(`http://localhost/tasks${query}`, { headers: { 'A2A-Version': '1.0' } });
  const { tasks } = (await (await server.fetch(request)).json()) as { tasks: unknown[] };
  return tasks.length;
}
