import { type TaskClient, TaskError } from '@batonjs/task-gateway/client';
import { describe, expect, it } from 'vitest';
import { network } from './network.ts';

const task = { taskId: 'a/b', type: 'work', data: {}, status: 'created', sequence: 2 };

/** What a call ends with: its value, or its error. */
const outcome = (call: Promise<unknown>) =>
  call.catch((error: unknown) => {
    if (!TaskError.is(error)) throw error;
    return { code: error.code, message: error.message, cause: error.cause };
  });

describe('a call', () => {
  it.each<[string, (client: TaskClient) => Promise<unknown>, string, unknown]>([
    [
      'submit',
      (client) => client.submit({ taskId: 'a/b', type: 'work', data: { n: 1 } }),
      'POST /task',
      { taskId: 'a/b', type: 'work', data: { n: 1 } },
    ],
    ['get', (client) => client.get('a/b'), 'GET /task/a%2Fb', ''],
    ['cancel', (client) => client.cancel('a/b'), 'POST /task/a%2Fb/cancel', ''],
    ['answer', (client) => client.answer('a/b', { n: 1 }), 'POST /task/a%2Fb/input', { values: { n: 1 } }],
    [
      'answer of a form',
      (client) => client.answer('a/b', {}, 'f'),
      'POST /task/a%2Fb/input',
      { values: {}, formId: 'f' },
    ],
  ])('%s is one request', async (_, make, call, body) => {
    const { client, asked } = network({ [call]: [task] }, { headers: { authorization: 'Bearer x' } });
    expect(await make(client)).toEqual(task);
    expect(asked).toMatchObject([{ call, body, headers: { authorization: 'Bearer x' } }]);
    expect(asked[0]!.headers['content-type']).toBe(body === '' ? undefined : 'application/json');
  });

  it('without an id of the task makes one of 128 random bits', async () => {
    const { client, asked } = network({ 'POST /task': [task] });
    for (const _ of [1, 2]) await client.submit({ type: 'work', data: {} });
    const [one, two] = asked.map(({ body }) => (body as { taskId: string }).taskId);
    expect(one).toMatch(/^[\da-f]{32}$/);
    expect(two).not.toBe(one);
  });

  const wire = { error: { code: 'TASK_CONFLICT', message: 'It exists' } };
  const refused = { code: 'TASK_CONFLICT', message: 'It exists', cause: undefined };
  const broken = new Error('Broken');
  const foreign = (status: number) => ({
    code: 'NETWORK',
    message: `http://gateway.example/base answers ${status}, but not as a gateway of tasks does: is a proxy in front of it?`,
    cause: undefined,
  });
  it.each<[string, readonly (object | [number, unknown] | Error)[], unknown, number]>([
    ['299', [[299, task]], task, 1],
    ['300', [[300, wire]], refused, 1],
    ['409', [[409, wire]], refused, 1],
    ['409 without an error', [[409, {}]], foreign(409), 1],
    ['409 with null', [[409, null]], foreign(409), 1],
    ['500', [[500, wire]], refused, 1],
    ['503, then 200', [[503, wire], task], task, 2],
    ['429, then 200', [[429, wire], task], task, 2],
    ['no connection, then 200', [broken, task], task, 2],
    ['no JSON, then 200', [[200, '<html>'], task], task, 2],
    ['no connection twice, then 409', [broken, broken, [409, wire]], refused, 3],
  ])('that is answered with %s', async (_, answers, expected, count) => {
    const { client, asked } = network({ 'GET /task/t': answers });
    expect(await outcome(client.get('t'))).toEqual(expected);
    expect(asked).toHaveLength(count);
  });

  it.each([
    [broken, { code: 'NETWORK', message: 'http://gateway.example/base cannot be reached', cause: broken }],
    [[503, wire], refused],
    [[502, '<title>Bad Gateway</title>'], foreign(502)],
  ])('that is never answered fails after `retryForMs`', async (answer, expected) => {
    const { client, asked } = network({ 'GET /task/t': [answer as object] }, { retryForMs: 0 });
    expect(await outcome(client.get('t'))).toEqual(expected);
    expect(asked).toHaveLength(1);
    const patient = network({ 'GET /task/t': [answer as object] }, { retryForMs: 500 });
    expect(await outcome(patient.client.get('t'))).toEqual(expected);
    expect(patient.asked.length).toBeGreaterThan(1);
  });
});

describe('a `TaskError`', () => {
  it('is recognised by its name and code', () => {
    const cause = new Error('Why');
    const error = new TaskError('X', 'It failed', cause);
    expect([error.name, error.code, error.message, error.cause]).toEqual([
      'TaskError',
      'X',
      'It failed',
      cause,
    ]);
    expect('cause' in new TaskError('X', 'It failed')).toBe(false);
    expect(TaskError.is(error)).toBe(true);
    expect(TaskError.is(error, 'X')).toBe(true);
    expect(TaskError.is(error, 'Y')).toBe(false);
    expect(TaskError.is({ name: 'TaskError', code: 'X' }, 'X')).toBe(true);
    for (const other of [null, undefined, new Error('X'), { code: 'X' }])
      expect(TaskError.is(other, 'X')).toBe(false);
  });
});

describe('a watch that polls', () => {
  const at = (sequence: number, status = 'in_progress') => ({ ...task, status, sequence });
  const transition = (sequence: number, status = 'in_progress') => ({
    status,
    sequence,
    time: 'now',
    message: 'Hi',
  });
  const update = (sequence: number, status = 'in_progress') => ({
    event: 'task_update',
    taskId: 'a/b',
    status,
    sequence,
  });

  it('reads the task, waits for a later one, and reads what came between', async () => {
    const { client, calls } = network({
      'GET /task/a%2Fb': [at(2, 'created')],
      'GET /task/a%2Fb?after=2&wait=20': [at(2, 'created'), at(4)],
      'GET /task/a%2Fb/history?after=2': [{ transitions: [transition(3), transition(4)] }],
      'GET /task/a%2Fb?after=4&wait=20': [at(6, 'completed')],
      'GET /task/a%2Fb/history?after=4': [{ transitions: [transition(6, 'completed'), transition(7)] }],
    });
    const seen: unknown[] = [];
    for await (const one of client.watch('a/b')) seen.push(one);
    expect(seen).toEqual([update(2, 'created'), update(3), update(4), update(6, 'completed')]);
    expect(calls()).toEqual([
      'GET /task/a%2Fb',
      'GET /task/a%2Fb?after=2&wait=20',
      'GET /task/a%2Fb?after=2&wait=20',
      'GET /task/a%2Fb/history?after=2',
      'GET /task/a%2Fb?after=4&wait=20',
      'GET /task/a%2Fb/history?after=4',
    ]);
  });

  it.each(['completed', 'failed', 'canceled'])('ends at once with a task that is %s', async (status) => {
    const { client, calls } = network({ 'GET /task/a%2Fb': [at(2, status)] });
    const seen: unknown[] = [];
    for await (const one of client.watch('a/b')) seen.push(one);
    expect(seen).toEqual([update(2, status)]);
    expect(calls()).toHaveLength(1);
  });

  it('begins after a sequence', async () => {
    const { client, calls } = network({
      'GET /task/a%2Fb?after=0&wait=20': [at(2, 'canceled')],
      'GET /task/a%2Fb/history?after=0': [{ transitions: [transition(2, 'canceled')] }],
    });
    const seen: unknown[] = [];
    for await (const one of client.watch('a/b', { after: 0 })) seen.push(one);
    expect(seen).toEqual([update(2, 'canceled')]);
    expect(calls()).toHaveLength(2);
  });

  it('ends with the error of the gateway, of its signal, or of its client', async () => {
    const wire = [404, { error: { code: 'TASK_NOT_FOUND', message: 'No' } }];
    const none = network({ 'GET /task/t': [wire] });
    await expect(none.client.watch('t').next()).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
      message: 'No',
    });
    const { client, asked } = network({ 'GET /task/t': [at(2)] });
    const abort = new AbortController();
    const watch = client.watch('t', { signal: abort.signal });
    await watch.next();
    expect(asked[0]!.signal.aborted).toBe(false);
    const reason = new Error('Enough');
    abort.abort(reason);
    expect(asked[0]!.signal.reason).toBe(reason);
    await expect(watch.next()).rejects.toBe(reason);
    client.close();
    await expect(client.watch('t').next()).rejects.toMatchObject({
      code: 'NETWORK',
      message: 'The client was closed',
    });
  });
});
