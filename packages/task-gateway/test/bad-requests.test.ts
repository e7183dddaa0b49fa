import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { nodeHandler } from '@batonjs/server-node';
import { createTaskGateway } from '@batonjs/task-gateway';
import { beforeEach, describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';

const task = { type: 'expense', data: {} };
const json = { 'content-type': 'application/json' };
const deep = `{"type":"expense","data":{"a":${'['.repeat(70)}${']'.repeat(70)}}}`;

interface Refused {
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly status?: number;
  readonly code?: string;
  readonly says?: string;
}

const post = (body: unknown, says: string, more: Partial<Refused> = {}): Refused => ({ body, says, ...more });
const get = (path: string, says: string, more: Partial<Refused> = {}): Refused => ({
  method: 'GET',
  path,
  says,
  ...more,
});
const rowsOf = (values: readonly string[], row: (value: string) => Refused): Record<string, Refused> =>
  Object.fromEntries(values.map((value) => [JSON.stringify(row(value)), row(value)]));
const time = '2026-01-01T00:00:00.000Z';
const cursorOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const unknownTask = { status: 404, code: 'TASK_NOT_FOUND' };
const nothing = { status: 404, code: 'NOT_FOUND' };
const notAllowed = { status: 405, code: 'METHOD_NOT_ALLOWED' };
const mediaType = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' };

const rows: Readonly<Record<string, Refused>> = {
  'no body': post('', 'JSON object'),
  'a body that is no JSON': post('{"type":', 'JSON'),
  'two JSON values': post('{}{}', 'JSON'),
  null: post('null', 'JSON object'),
  'a list': post([task], 'JSON object'),
  'a string': post('"task"', 'JSON object'),
  'a number': post('1', 'JSON object'),
  'an unknown member': post({ ...task, typ: 1 }, '"typ"'),
  'no type': post({ data: {} }, 'type'),
  'a type that is a number': post({ ...task, type: 1 }, 'type'),
  'an empty type': post({ ...task, type: '' }, 'type'),
  'a type that is null': post({ ...task, type: null }, 'type'),
  'a long type': post({ ...task, type: 'x'.repeat(257) }, '256'),
  'a type with a line break': post({ ...task, type: 'a\nb' }, 'type'),
  'half a surrogate in the type': post('{"type":"\\ud800","data":{}}', 'type'),
  'no data': post({ type: 'expense' }, 'data'),
  'data that is null': post({ ...task, data: null }, 'data'),
  'data that is a list': post({ ...task, data: [] }, 'data'),
  'data that is text': post({ ...task, data: '100 USD' }, 'data'),
  'data that is a number': post({ ...task, data: 100 }, 'data'),
  'data that is nested too deeply': post(deep, 'nest'),
  'a number that no double can hold': post('{"type":"expense","data":{"n":1e400}}', ''),
  'a taskId that is a number': post({ ...task, taskId: 1 }, 'taskId'),
  'an empty taskId': post({ ...task, taskId: '' }, 'taskId'),
  'a taskId that is null': post({ ...task, taskId: null }, 'taskId'),
  'a long taskId': post({ ...task, taskId: 'x'.repeat(257) }, '256'),
  'a taskId with NUL': post({ ...task, taskId: 'a\0' }, 'taskId'),
  'the taskId "updates"': post({ ...task, taskId: 'updates' }, 'updates'),
  'the taskId "."': post({ ...task, taskId: '.' }, 'taskId'),
  'the taskId ".."': post({ ...task, taskId: '..' }, 'taskId'),
  'a status that is final': post({ ...task, status: 'completed' }, 'status'),
  'a status that does not exist': post({ ...task, status: 'new' }, 'status'),
  'a body that is too large': post({ ...task, data: { a: 'x'.repeat(5_000) } }, '4096', {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  }),
  'a body that is not UTF-8': post(Buffer.from([0x7b, 0xff, 0x7d]), 'UTF-8'),
  'a body of another type': post(task, 'application/json', {
    headers: { 'content-type': 'text/plain' },
    ...mediaType,
  }),
  'a body without a type': post(task, 'application/json', { headers: {}, ...mediaType }),
  'a compressed body': post(task, 'gzip', { headers: { ...json, 'content-encoding': 'gzip' }, ...mediaType }),
  'a query where none belongs': post(task, 'wait', { path: '/task?wait=1' }),
  'a task that does not exist': get('/task/none', 'no such task', unknownTask),
  'a task id that is no URL text': get('/task/%E0%A4%A', 'no such task', unknownTask),
  'a task id with NUL': get('/task/%00', 'no such task', unknownTask),
  'a wait that is no number': get('/task/t?wait=soon', 'wait'),
  'a negative wait': get('/task/t?wait=-1', 'wait'),
  'a wait that is too long': get('/task/t?wait=61', '60'),
  'two waits': get('/task/t?wait=1&wait=2', 'once'),
  'a position that is no integer': get('/task/t?after=1.5&wait=1', 'after'),
  'a position in hexadecimal': get('/task/t?after=0x1&wait=1', 'after'),
  'a position beyond all integers': get('/task/t?after=99999999999999999&wait=1', 'after'),
  'an unknown parameter': get('/task/t?since=1', '"since"'),
  'the updates without a WebSocket': get('/task/updates', 'WebSocket', nothing),
  'the history of a task that does not exist': get('/task/none/history', 'no such task', unknownTask),
  'a page of history that is too large': get('/task/none/history?limit=1001', 'limit'),
  'a list by a status that does not exist': get('/task?status=done', 'created, in_progress'),
  'a list by a cursor that is none': get('/task?cursor=abc', 'cursor'),
  'a list by a cursor of other JSON': get('/task?cursor=WzEsMl0', 'cursor'),
  'a list without entries': get('/task?limit=0', 'limit'),
  'a list that is too long': get('/task?limit=101', 'limit'),
  'a list by an empty type': get('/task?type=', 'type'),
  'another path': get('/tasks', 'nothing', nothing),
  'a longer path': get('/task/t/history/1', 'nothing', nothing),
  'the root': get('/', 'nothing', nothing),
  'a task that is to be deleted': { method: 'DELETE', path: '/task/t', says: 'GET', ...notAllowed },
  'a task that is to be replaced': { method: 'PUT', path: '/task', says: 'POST, GET', ...notAllowed },
  'a cancel that is read': get('/task/t/cancel', 'POST', notAllowed),
  'the cancel of a task that does not exist': post('', 'no such task', {
    path: '/task/none/cancel',
    ...unknownTask,
  }),
  'an answer to a task that does not exist': post({ values: {} }, 'no such task', {
    path: '/task/none/input',
    ...unknownTask,
  }),
  'an answer without values': post({}, 'values', { path: '/task/t/input' }),
  'an answer whose values are a list': post({ values: [] }, 'values', { path: '/task/t/input' }),
  'an answer with a formId that is no text': post({ values: {}, formId: 1 }, 'formId', {
    path: '/task/t/input',
  }),
  'an answer with an unknown member': post({ values: {}, form: 1 }, '"form"', { path: '/task/t/input' }),
  'an answer with an empty formId': post({ values: {}, formId: '' }, 'formId', { path: '/task/t/input' }),
  'a long unknown member': post(
    { ...task, ['y'.repeat(101)]: 1 },
    `"${'y'.repeat(100)}": there are taskId, type, data, status`,
  ),
  'a long unknown parameter': get(
    `/task/t?${'y'.repeat(101)}=1`,
    `"${'y'.repeat(100)}": there are after, wait`,
  ),
  ...rowsOf(['a\u001f', 'a\u007f', 'a\ud800'], (taskId) => post({ ...task, taskId }, 'control characters')),
  ...rowsOf(
    ['', '1e1', '%2B1', '%201', '1x', 'x1', '60.000000001', '1.1234567891', '00000000000000001'],
    (wait) => get(`/task/t?wait=${wait}`, '`wait` must be a number from 0 to 60'),
  ),
  ...rowsOf(['x1', '1x', '-1', '9007199254740992'], (after) =>
    get(`/task/t/history?after=${after}`, '`after` must be an integer from 0 to 9007199254740991'),
  ),
  ...rowsOf(['0', '1001', '1.0'], (limit) =>
    get(`/task/t/history?limit=${limit}`, '`limit` must be an integer from 1 to 1000'),
  ),
  ...rowsOf(
    [
      '',
      `${cursorOf([time, 'id'])}=`,
      ...[[time], [time, 7], ['soon', 'id'], [7, 'id'], [time, 'id', 1], null].map((value) =>
        cursorOf(value),
      ),
    ],
    (cursor) => get(`/task?cursor=${cursor}`, '`cursor` must be the `cursor` of an earlier page'),
  ),
};

/** What lies at the bounds is taken: the tasks of these ids are made, and these queries answered. */
const taken = {
  ids: ['a/b c', 'updates2', '...', 'xupdates', '\u0020é\u0080', 'x'.repeat(256)],
  queries: [
    '/task?status=in_progress&type=a/b&limit=100',
    `/task?cursor=${cursorOf([time, 'id'])}&limit=1`,
    '/task/...?wait=0',
    '/task/...?wait=0.5&after=0',
    '/task/.../history?after=9007199254740991&limit=1000',
  ],
};

let url: string;
beforeEach(async () => {
  const gateway = closedAfterTest(createTaskGateway({ types: {}, bodyBytes: 4_096, logger: () => {} }));
  url = await listen(nodeHandler(gateway));
});

it('a request at the bounds is answered, and a task without an id gets a random one', async () => {
  for (const taskId of taken.ids) {
    const { answer, content } = await send(`${url}/task`, 'POST', json, {
      ...task,
      taskId,
      status: 'created',
    });
    expect([answer.statusCode, content.taskId]).toEqual([202, taskId]);
  }
  for (const path of taken.queries)
    expect([path, (await send(`${url}${path}`, 'GET', json, undefined)).answer.statusCode]).toEqual([
      path,
      200,
    ]);
  const unnamed = [1, 2].map(async () => (await send(`${url}/task`, 'POST', json, task)).content.taskId);
  const [one, other] = await Promise.all(unnamed);
  expect(one).toMatch(/^[\da-f-]{36}$/);
  expect(other).not.toBe(one);
});

describe('a request is refused that has', () => {
  it.each(Object.entries(rows))('%s', async (_, row) => {
    const {
      method = 'POST',
      path = '/task',
      body,
      headers = json,
      status = 400,
      code = 'INVALID_REQUEST',
    } = row;
    const { answer, content } = await send(`${url}${path}`, method, headers, body);
    expect(content).toEqual({ error: { code, message: expect.stringContaining(row.says ?? '') } });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers.allow !== undefined).toBe(status === 405);
    // The service still works.
    const next = await send(`${url}/task`, 'POST', json, { type: 'none', data: {} });
    expect(next.answer.statusCode).toBe(202);
  });
});

/** Sends a request as it is; `fetch` would repair some. */
async function send(url: string, method: string, headers: Record<string, string>, body: unknown) {
  const path = url.replace(/^http:\/\/[^/]+/, '');
  const outgoing = request(url, { method, headers, path, agent: false });
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : body && JSON.stringify(body);
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    outgoing.on('response', resolve).on('error', reject).end(bytes),
  );
  return { answer, content: JSON.parse(await text(answer)) };
}
