import { describe, expect, it } from 'vitest';
import { checkOutcome } from '../../scripts/fuzz/check-reply.ts';
import { fuzz } from '../../scripts/fuzz/fuzz.ts';
import { mutatedRequest } from '../../scripts/fuzz/grpc/grpc-road.ts';
import { bodyOf } from '../../scripts/fuzz/grpc/request.ts';
import { longestReply } from '../../scripts/fuzz/limits.ts';
import { mutate } from '../../scripts/fuzz/mutate/mutate.ts';
import { parseReply } from '../../scripts/fuzz/reply.ts';
import { bytesOf } from '../../scripts/fuzz/request.ts';
import { type Known, validRequest } from '../../scripts/fuzz/valid-request.ts';
import { bytesOf as messageBytes } from '../../scripts/fuzz/websocket/request.ts';
import { mutatedSocketRequest } from '../../scripts/fuzz/websocket/websocket-road.ts';
import { seeded } from '../../scripts/workload/random.ts';
import { repetitions } from '../kit/repetitions.ts';

const bindings = ['JSONRPC', 'HTTP+JSON'] as const;

const requests = repetitions(60, 2_000);
/** Counts that are expected of so many requests. */
const oneOf = (share: number) => requests / share;

describe('mutated requests', { timeout: 300_000 }, () => {
  it.each([
    ['JSONRPC', 'memory'],
    ['HTTP+JSON', 'sqlite'],
  ] as const)(
    'over %s to a server on %s are all answered as they should be [R-OP-05]',
    async (binding, store) => {
      const { failures, outcomes } = await fuzz({ binding, store, seed: '7', from: 0, requests });
      expect(failures).toEqual([]);
      // They are neither all refused nor all accepted, and a server that closes says so.
      expect(outcomes['200']).toBeGreaterThan(oneOf(20));
      expect((outcomes['400'] ?? 0) + (outcomes['404'] ?? 0)).toBeGreaterThan(oneOf(50));
      expect(outcomes['503 while closing']).toBeGreaterThan(0);
    },
  );

  it('over gRPC to a server on memory are all answered as they should be [R-OP-05] [R-GRPC-79]', async () => {
    const options = { binding: 'GRPC', store: 'memory', seed: '7', from: 0, requests } as const;
    const { failures, outcomes } = await fuzz(options);
    expect(failures).toEqual([]);
    expect(outcomes.OK).toBeGreaterThan(oneOf(60));
    expect(outcomes.INVALID_ARGUMENT).toBeGreaterThan(oneOf(50));
    expect(outcomes['UNAVAILABLE while closing']).toBeGreaterThan(0);
  });
});

describe('mutated messages', { timeout: 300_000 }, () => {
  it('over WebSocket to a server on SQLite are all answered as they should be [R-OP-05] [R-WS-18]', async () => {
    const options = { binding: 'WebSocket', store: 'sqlite', seed: '7', from: 0, requests } as const;
    const { failures, outcomes } = await fuzz(options);
    expect(failures).toEqual([]);
    expect(outcomes.answered).toBeGreaterThan(oneOf(20));
    expect((outcomes['-32600'] ?? 0) + (outcomes['-32602'] ?? 0)).toBeGreaterThan(oneOf(50));
    expect(outcomes['-32700']).toBeGreaterThan(oneOf(100));
    expect(outcomes['refused 503 while closing']).toBeGreaterThan(0);
  });
});

const known: Known = {
  tasks: ['t-1', 't-2'],
  contextId: 'c-1',
  pageToken: 'p-1',
  webhook: { taskId: 't-1', id: 'w-1', url: 'http://127.0.0.1:1/hook' },
  forbiddenPort: 2,
};

describe('requests', () => {
  it.each(bindings)('over %s are the same for the same seed, and others for another', (binding) => {
    const bytes = (seed: string) =>
      Array.from({ length: 100 }, (_, number) => {
        const random = seeded(`${seed}/${number}`);
        return bytesOf(mutate(random, validRequest(random, binding, known))).toString('latin1');
      });
    expect(bytes('1')).toEqual(bytes('1'));
    expect(bytes('2')).not.toEqual(bytes('1'));
    expect(new Set(bytes('1')).size).toBeGreaterThan(90);
  });
});

it('mutated requests over gRPC are the same for the same seed, and others for another', () => {
  const bytes = (seed: string) =>
    Array.from({ length: 100 }, (_, number) => {
      const request = mutatedRequest(seeded(`${seed}/${number}`), known);
      return JSON.stringify([request.path, request.metadata, bodyOf(request).toString('latin1')]);
    });
  const first = bytes('1');
  expect(bytes('1')).toEqual(first);
  expect(bytes('2')).not.toEqual(first);
  expect(new Set(first).size).toBeGreaterThan(90);
});

it('mutated messages over WebSocket are the same for the same seed, and others for another', () => {
  const bytes = (seed: string) =>
    Array.from({ length: 100 }, (_, number) => {
      const request = mutatedSocketRequest(seeded(`${seed}/${number}`), known);
      return JSON.stringify([request.headers, messageBytes(request).toString('latin1')]);
    });
  const first = bytes('1');
  expect(bytes('1')).toEqual(first);
  expect(bytes('2')).not.toEqual(first);
  expect(new Set(first).size).toBeGreaterThan(90);
});

describe('a reply', () => {
  const bad = async (binding: 'JSONRPC' | 'HTTP+JSON', text: string) => {
    const request = {
      operation: 'GetTask' as const,
      method: binding === 'JSONRPC' ? 'POST' : 'GET',
      target: binding === 'JSONRPC' ? '/' : '/tasks/t-1',
      headers: [],
      body: binding === 'JSONRPC' ? Buffer.from('{"id":1,"method":"GetTask"}') : undefined,
      changes: [],
      isMangled: false,
    };
    const reply = parseReply(Buffer.from(text), request.method, true);
    return checkOutcome(request, reply ? { kind: 'reply', reply } : { kind: 'closed' });
  };
  const http = (status: number, type: string, body: string) =>
    `HTTP/1.1 ${status} X\r\ncontent-type: ${type}\r\ncache-control: no-store\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const rpc = (body: object, status = 200, type = 'application/json') =>
    http(status, type, JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }));
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' };
  const task = { id: 't-1', contextId: 'c-1', status: { state: 'TASK_STATE_COMPLETED' } };
  const error = { code: -32_001, message: 'Not found', data: [info] };
  const failed = { code: 404, status: 'NOT_FOUND', message: 'Not found', details: [info] };

  it('as it should be is no fault', async () => {
    expect(await bad('JSONRPC', rpc({ result: task }))).toBeUndefined();
    expect(await bad('JSONRPC', rpc({ error }))).toBeUndefined();
    expect(await bad('HTTP+JSON', http(200, 'application/a2a+json', JSON.stringify(task)))).toBeUndefined();
    const refused = http(404, 'application/json', JSON.stringify({ error: failed }));
    expect(await bad('HTTP+JSON', refused)).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['too long', rpc({ result: { ...task, metadata: { text: 'x'.repeat(longestReply) } } })],
    ['500', rpc({ error }, 500)],
    ['HTML', http(200, 'text/html', '<h1>Hello</h1>')],
    ['another id', rpc({ id: 2, result: task })],
    ['no id', rpc({ id: undefined, result: task })],
    ['both', rpc({ result: task, error })],
    ['neither', rpc({})],
    ['another status than the binding has', rpc({ error }, 404)],
    ['another type', rpc({ result: task }, 200, 'application/a2a+json')],
    ['no task', rpc({ result: { ...task, status: {} } })],
    ['an error without details', rpc({ error: { ...error, data: undefined } })],
    ['a code that is not of its reason', rpc({ error: { ...error, code: -32_002 } })],
    [
      'an internal error',
      rpc({ error: { ...error, code: -32_603, data: [{ ...info, reason: 'INTERNAL_ERROR' }] } }),
    ],
    ['unknown reasons', rpc({ error: { ...error, data: [{ ...info, reason: 'BECAUSE' }] } })],
  ])('on JSON-RPC that is %s is a fault', async (_, text) => {
    expect(await bad('JSONRPC', text)).toBeTypeOf('string');
  });

  it.each([
    ['another code than the status', http(400, 'application/json', JSON.stringify({ error: failed }))],
    ['no task', http(200, 'application/json', '{}')],
    ['not said to be JSON', http(200, 'text/plain', JSON.stringify(task))],
    ['405 without Allow', http(405, 'application/json', JSON.stringify({ error: { ...failed, code: 405 } }))],
  ])('on HTTP+JSON that is %s is a fault', async (_, text) => {
    expect(await bad('HTTP+JSON', text)).toBeTypeOf('string');
  });

  it('is read from chunks, after an interim one', () => {
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n';
    const reply = parseReply(Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${chunked}`), 'GET', false);
    expect(reply).toMatchObject({ status: 200, body: 'abcde', isWhole: true });
    expect(parseReply(Buffer.from(chunked.slice(0, -8)), 'GET', false)).toMatchObject({ isWhole: false });
  });
});
