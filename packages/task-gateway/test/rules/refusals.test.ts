import { A2AError } from '@batonjs/protocol/errors';
import type { Caller } from '@batonjs/server';
import { StoreError } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { callerOf, errorReply, jsonReply } from '../../src/http/handler.ts';
import { GatewayRefusal, isFault, toWireError } from '../../src/tasks/gateway-refusal.ts';

describe('an error as clients see it', () => {
  const refusal = (code: GatewayRefusal['code'], allow?: string) => new GatewayRefusal(code, 'why', allow);
  const shown = (status: number, code: string, message: string, headers: object = {}) => ({
    status,
    code,
    message,
    headers,
  });

  it.each<[unknown, object, boolean]>([
    [refusal('INVALID_REQUEST'), shown(400, 'INVALID_REQUEST', 'why'), false],
    [refusal('TASK_NOT_FOUND'), shown(404, 'TASK_NOT_FOUND', 'why'), false],
    [refusal('NOT_FOUND'), shown(404, 'NOT_FOUND', 'why'), false],
    [refusal('METHOD_NOT_ALLOWED', 'GET'), shown(405, 'METHOD_NOT_ALLOWED', 'why', { allow: 'GET' }), false],
    [refusal('TASK_CONFLICT'), shown(409, 'TASK_CONFLICT', 'why'), false],
    [refusal('TASK_NOT_CANCELABLE'), shown(409, 'TASK_NOT_CANCELABLE', 'why'), false],
    [refusal('INPUT_NOT_EXPECTED'), shown(409, 'INPUT_NOT_EXPECTED', 'why'), false],
    [
      new StoreError('UNAVAILABLE', 'secret'),
      shown(503, 'UNAVAILABLE', 'Temporarily unavailable', { 'retry-after': '1' }),
      true,
    ],
    [new StoreError('LOG_GAP', 'secret'), shown(500, 'INTERNAL_ERROR', 'Internal error'), true],
    [new Error('secret'), shown(500, 'INTERNAL_ERROR', 'Internal error'), true],
    [undefined, shown(500, 'INTERNAL_ERROR', 'Internal error'), true],
    [
      new A2AError('MESSAGE_ID_CONFLICT'),
      shown(409, 'TASK_CONFLICT', 'The task exists with another type or other data'),
      false,
    ],
    [new A2AError('PARSE_ERROR', 'why'), shown(400, 'INVALID_REQUEST', 'why'), false],
    [new A2AError('INVALID_PARAMS', 'why'), shown(400, 'INVALID_REQUEST', 'why'), false],
    [new A2AError('PAYLOAD_TOO_LARGE', 'why'), shown(413, 'PAYLOAD_TOO_LARGE', 'why'), false],
    [
      new A2AError('UNAVAILABLE', 'why', { retryAfter: 0 }),
      shown(503, 'UNAVAILABLE', 'why', { 'retry-after': '0' }),
      true,
    ],
    [
      new A2AError('UNAUTHENTICATED', 'why', { challenge: 'Bearer' }),
      shown(401, 'UNAUTHENTICATED', 'why', { 'www-authenticate': 'Bearer' }),
      false,
    ],
  ])('%s', (error, expected, fault) => {
    const wire = toWireError(error);
    expect(wire).toEqual(expected);
    expect(isFault(wire, true)).toBe(fault);
    expect(isFault(wire, false)).toBe(fault && wire.status !== 503);
  });

  it('has a name of its own', () => {
    expect(refusal('NOT_FOUND').name).toBe('GatewayRefusal');
  });

  it('is an answer in JSON that nothing keeps', () => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    };
    expect(jsonReply(202, { a: 1 })).toEqual({ status: 202, headers, body: '{"a":1}' });
    expect(errorReply(toWireError(refusal('METHOD_NOT_ALLOWED', 'GET')))).toEqual({
      status: 405,
      headers: { ...headers, allow: 'GET' },
      body: '{"error":{"code":"METHOD_NOT_ALLOWED","message":"why"}}',
    });
  });
});

describe('the caller of a request', () => {
  const request = { method: 'GET', path: '/task', query: new URLSearchParams(), headers: {} };
  const found = (caller: unknown) => callerOf(request, () => caller as Caller);

  it('is the one that `authenticate` knows, or anyone', async () => {
    expect(await callerOf(request, undefined)).toEqual({ scope: 'anyone' });
    expect(await found({ scope: 'ada', claims: { n: 1 } })).toEqual({ scope: 'ada', claims: { n: 1 } });
    const seen: unknown[] = [];
    await callerOf(request, (given) => {
      seen.push(given);
      return { scope: 'ada' };
    });
    expect(seen).toEqual([request]);
  });

  it.each([undefined, null, false])('is refused if `authenticate` says %j', async (caller) => {
    await expect(found(caller)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
  });

  it.each([{}, { scope: '' }, { scope: 7 }])('must have a scope, unlike %j', async (caller) => {
    await expect(found(caller)).rejects.toThrow(
      new TypeError('`authenticate` must return a caller whose `scope` is a string that is not empty'),
    );
  });
});
