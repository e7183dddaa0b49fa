import { describe, expect, it } from 'vitest';
import {
  checkQuery,
  members,
  toBatchMs,
  toFilter,
  toFormInput,
  toHistoryRange,
  toSequence,
  toSubmission,
  toTaskId,
  toWait,
} from '../../src/http/task-request.ts';
import { requestIdIn, toFrame } from '../../src/sockets/frames.ts';
import { GatewayRefusal } from '../../src/tasks/gateway-refusal.ts';

/** What a reader makes of a request: its value, or the message of its refusal. */
function read(reader: () => unknown): unknown {
  try {
    return reader();
  } catch (error) {
    if (!(error instanceof GatewayRefusal) || error.code !== 'INVALID_REQUEST') throw error;
    return error.message;
  }
}
const query = (text: string) => new URLSearchParams(text);
const longest = 'x'.repeat(256);
const control = 'must be well-formed Unicode without control characters';

describe('a submission', () => {
  const given = { taskId: 't', type: 'work', data: { a: [1] } };
  it.each<[unknown, unknown]>([
    [given, given],
    [{ ...given, status: 'created' }, given],
    [{ ...given, status: 'completed' }, '`status` of a new task is "created"'],
    [
      { ...given, taskId: longest, type: longest },
      { ...given, taskId: longest, type: longest },
    ],
    [{ ...given, taskId: `${longest}x` }, '`taskId` must have at most 256 characters'],
    [{ ...given, type: `${longest}x` }, '`type` must have at most 256 characters'],
    [{ ...given, type: undefined }, '`type` must be a string that is not empty'],
    [{ ...given, taskId: '' }, '`taskId` must be a string that is not empty'],
    [{ ...given, data: undefined }, '`data` must be an object'],
    [{ ...given, data: null }, '`data` must be an object'],
    [{ ...given, data: [] }, '`data` must be an object'],
    [{ ...given, data: 'x' }, '`data` must be an object'],
    [
      { ...given, ['y'.repeat(101)]: 1 },
      `There is no member "${'y'.repeat(100)}": there are taskId, type, data, status`,
    ],
    [null, 'The body must be a JSON object'],
    [[], 'The body must be a JSON object'],
    ['x', 'The body must be a JSON object'],
  ])('%j', (body, expected) => {
    expect(read(() => toSubmission(body))).toEqual(expected);
  });

  it('without an id gets a random one', () => {
    const [one, other] = [1, 2].map(() => toSubmission({ type: 'work', data: {} }).taskId);
    expect(one).toMatch(/^[\da-f-]{36}$/);
    expect(other).not.toBe(one);
  });
});

it.each<[unknown, unknown]>([
  ['a/b c', 'a/b c'],
  ['updates2', 'updates2'],
  ['...', '...'],
  ['xupdates', 'xupdates'],
  ['.', '`taskId` must not be ".", ".." or "updates"'],
  ['..', '`taskId` must not be ".", ".." or "updates"'],
  ['updates', '`taskId` must not be ".", ".." or "updates"'],
  ['a\u0000', `\`taskId\` ${control}`],
  ['a\u001f', `\`taskId\` ${control}`],
  ['a\u007f', `\`taskId\` ${control}`],
  ['a\ud800', `\`taskId\` ${control}`],
  ['\u0020é\u0080', '\u0020é\u0080'],
  [7, '`taskId` must be a string that is not empty'],
])('the id of a task %j', (taskId, expected) => {
  expect(read(() => toTaskId(taskId))).toEqual(expected);
});

it.each<[unknown, unknown]>([
  [{ values: { a: 1 } }, { formId: undefined, values: { a: 1 } }],
  [
    { values: {}, formId: 'f' },
    { formId: 'f', values: {} },
  ],
  [{ values: {}, formId: '' }, '`formId` must be a string that is not empty'],
  [{ values: [] }, '`values` must be an object'],
  [{ formId: 'f' }, '`values` must be an object'],
  [{ values: {}, x: 1 }, 'There is no member "x": there are formId, values'],
])('an answer %j', (body, expected) => {
  expect(read(() => toFormInput(body))).toEqual(expected);
});

it.each<[unknown, unknown]>([
  [undefined, undefined],
  [0, 0],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [-1, '`after` must be an integer of 0 or more'],
  [1.5, '`after` must be an integer of 0 or more'],
  [Number.MAX_SAFE_INTEGER + 1, '`after` must be an integer of 0 or more'],
  ['1', '`after` must be an integer of 0 or more'],
  [null, '`after` must be an integer of 0 or more'],
])('a sequence %j', (after, expected) => {
  expect(read(() => toSequence(after))).toEqual(expected);
});

describe('the query', () => {
  const wrongWait = '`wait` must be a number from 0 to 60';
  it.each<[string, unknown]>([
    ['', undefined],
    ['after=3', undefined],
    ['wait=0', { after: 0, ms: 0 }],
    ['wait=1.5&after=3', { after: 3, ms: 1_500 }],
    ['wait=60&after=9007199254740991', { after: Number.MAX_SAFE_INTEGER, ms: 60_000 }],
    ['wait=60.000000001', wrongWait],
    ['wait=1.1234567891', wrongWait],
    ['wait=', wrongWait],
    ['wait=-1', wrongWait],
    ['wait=1e1', wrongWait],
    ['wait=+1', wrongWait],
    ['wait= 1', wrongWait],
    ['wait=1x', wrongWait],
    ['wait=x1', wrongWait],
    ['wait=00000000000000001', wrongWait],
    ['after=1.5&wait=1', '`after` must be an integer from 0 to 9007199254740991'],
    ['after=9007199254740992&wait=1', '`after` must be an integer from 0 to 9007199254740991'],
    ['after=x1', '`after` must be an integer from 0 to 9007199254740991'],
    ['after=1x', '`after` must be an integer from 0 to 9007199254740991'],
    ['wait=1&wait=1', '`wait` must be given once'],
    ['limit=1', 'There is no parameter "limit": there are after, wait'],
  ])('of a task %j', (text, expected) => {
    expect(read(() => toWait(query(text)))).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['', { after: 0, limit: 1_000 }],
    ['after=5&limit=1', { after: 5, limit: 1 }],
    ['limit=1000', { after: 0, limit: 1_000 }],
    ['limit=0', '`limit` must be an integer from 1 to 1000'],
    ['limit=1001', '`limit` must be an integer from 1 to 1000'],
    ['after=-1', '`after` must be an integer from 0 to 9007199254740991'],
    ['limit=1.0', '`limit` must be an integer from 1 to 1000'],
    ['wait=1', 'There is no parameter "wait": there are after, limit'],
  ])('of a history %j', (text, expected) => {
    expect(read(() => toHistoryRange(query(text)))).toEqual(expected);
  });

  const cursor = Buffer.from(JSON.stringify(['2026-01-01T00:00:00.000Z', 'id'])).toString('base64url');
  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const wrongCursor = '`cursor` must be the `cursor` of an earlier page';
  it.each<[string, unknown]>([
    ['', { limit: 50 }],
    ['status=in_progress&type=a/b&limit=100', { status: 'in_progress', type: 'a/b', limit: 100 }],
    [`cursor=${cursor}&limit=1`, { after: { statusAt: '2026-01-01T00:00:00.000Z', taskId: 'id' }, limit: 1 }],
    ['status=', '`status` is one of created, in_progress, completed, failed, canceled'],
    ['type=', '`type` must be a string that is not empty'],
    ['limit=0', '`limit` must be an integer from 1 to 100'],
    ['limit=101', '`limit` must be an integer from 1 to 100'],
    ['cursor=', wrongCursor],
    [`cursor=${cursor}=`, wrongCursor],
    [`cursor=${cursorOf(['2026-01-01T00:00:00.000Z'])}`, wrongCursor],
    [`cursor=${cursorOf(['2026-01-01T00:00:00.000Z', 7])}`, wrongCursor],
    [`cursor=${cursorOf(['soon', 'id'])}`, wrongCursor],
    [`cursor=${cursorOf([7, 'id'])}`, wrongCursor],
    [`cursor=${cursorOf(['2026-01-01T00:00:00.000Z', 'id', 1])}`, wrongCursor],
    [`cursor=${cursorOf(null)}`, wrongCursor],
    ['after=1', 'There is no parameter "after": there are status, type, cursor, limit'],
  ])('of a list %j', (text, expected) => {
    expect(read(() => toFilter(query(text)))).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['', 0],
    ['batchMs=0', 0],
    ['batchMs=10000&token=x', 10_000],
    ['batchMs=10001', '`batchMs` must be an integer from 0 to 10000'],
    ['batchMs=1.5', '`batchMs` must be an integer from 0 to 10000'],
  ])('of a WebSocket %j', (text, expected) => {
    expect(read(() => toBatchMs(query(text)))).toEqual(expected);
  });

  it('may have what is known, each once', () => {
    const long = 'x'.repeat(150);
    expect(read(() => checkQuery(query(''), []))).toBeUndefined();
    expect(read(() => checkQuery(query('a=1&b=2'), ['a', 'b']))).toBeUndefined();
    expect(read(() => checkQuery(query('a=1'), []))).toBe('There is no parameter "a"');
    expect(read(() => checkQuery(query(long), ['a']))).toBe(
      `There is no parameter "${'x'.repeat(100)}": there are a`,
    );
    expect(read(() => checkQuery(query('a=1&a=1'), ['a']))).toBe('`a` must be given once');
  });

  it('of members names those that are known', () => {
    expect(members({ a: 1 }, ['a', 'b'])).toEqual({ a: 1 });
    expect(read(() => members({ a: 1, c: 1 }, ['a', 'b']))).toBe('There is no member "c": there are a, b');
  });
});

describe('a frame', () => {
  const events = '`event` is one of subscribe, unsubscribe, submit, cancel, input';
  it.each<[unknown, unknown]>([
    [
      { event: 'subscribe', taskId: 't' },
      { event: 'subscribe', taskId: 't', after: undefined },
    ],
    [
      { event: 'subscribe', taskId: 't', after: 3, requestId: 'r' },
      { event: 'subscribe', taskId: 't', after: 3, requestId: 'r' },
    ],
    [
      { event: 'unsubscribe', taskId: 't' },
      { event: 'unsubscribe', taskId: 't' },
    ],
    [
      { event: 'unsubscribe', taskId: 't', requestId: longest },
      { event: 'unsubscribe', taskId: 't', requestId: longest },
    ],
    [
      { event: 'cancel', taskId: 't', requestId: 'r' },
      { event: 'cancel', taskId: 't', requestId: 'r' },
    ],
    [
      { event: 'input', taskId: 't', formId: 'f', values: { a: 1 }, requestId: 'r' },
      { event: 'input', taskId: 't', input: { formId: 'f', values: { a: 1 } }, requestId: 'r' },
    ],
    [
      { event: 'input', taskId: 't', values: {} },
      { event: 'input', taskId: 't', input: { formId: undefined, values: {} } },
    ],
    [
      { event: 'submit', taskId: 't', type: 'a', data: {}, status: 'created', requestId: 'r' },
      { event: 'submit', submission: { taskId: 't', type: 'a', data: {} }, requestId: 'r' },
    ],
    [null, 'A frame must be a JSON object'],
    [[], 'A frame must be a JSON object'],
    ['x', 'A frame must be a JSON object'],
    [{}, events],
    [{ event: 'toString' }, events],
    [{ event: 7 }, events],
    [{ event: 'cancel', taskId: 't', requestId: '' }, '`requestId` must be a string of 1 to 256 characters'],
    [
      { event: 'cancel', taskId: 't', requestId: `${longest}x` },
      '`requestId` must be a string of 1 to 256 characters',
    ],
    [{ event: 'cancel', taskId: 't', requestId: 7 }, '`requestId` must be a string of 1 to 256 characters'],
    [{ event: 'cancel' }, '`taskId` must be a string that is not empty'],
    [{ event: 'subscribe', taskId: 't', after: -1 }, '`after` must be an integer of 0 or more'],
    [{ event: 'subscribe', taskId: 't', x: 1 }, 'There is no member "x": there are taskId, after'],
    [{ event: 'unsubscribe', taskId: 't', after: 1 }, 'There is no member "after": there are taskId'],
    [{ event: 'cancel', taskId: 't', values: 1 }, 'There is no member "values": there are taskId'],
    [
      { event: 'input', taskId: 't', after: 1 },
      'There is no member "after": there are taskId, formId, values',
    ],
    [
      { event: 'submit', taskId: 't', after: 1 },
      'There is no member "after": there are taskId, type, data, status',
    ],
    [{ event: 'submit', taskId: 't', type: '', data: {} }, '`type` must be a string that is not empty'],
  ])('%j', (value, expected) => {
    const found = read(() => toFrame(value));
    if (typeof expected === 'string') expect(found).toBe(expected);
    else expect(found).toStrictEqual(expected);
  });

  it.each([
    [{ requestId: 'r' }, 'r'],
    [{ requestId: longest }, longest],
    [{ requestId: `${longest}x` }, undefined],
    [{ requestId: '' }, undefined],
    [{ requestId: 7 }, undefined],
    [undefined, undefined],
    ['text', undefined],
  ])('that is wrong, %j, is answered by its `requestId`', (value, expected) => {
    expect(requestIdIn(value)).toBe(expected);
  });
});
