import { ClientError, connect } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { bothBindings, failureOf, serve } from '../serve.ts';

/** The error of GetTask for an answer. */
async function reading(binding: string, status: number, body: unknown): Promise<Error & { reason?: string }> {
  const { url } = await serve((_, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  );
  const agent = await connect(bothBindings(url), { binding, retry: false });
  return failureOf(agent.getTask({ id: 't-1' }));
}

const info = (reason: string, domain = 'a2a-protocol.org') => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain,
});

describe('errors on HTTP+JSON [R-ERR-06]', () => {
  it.each([
    ['TASK_NOT_CANCELABLE', 400],
    ['TASK_NOT_CANCELABLE', 409],
    ['CONTENT_TYPE_NOT_SUPPORTED', 400],
    ['CONTENT_TYPE_NOT_SUPPORTED', 415],
    ['INVALID_AGENT_RESPONSE', 500],
    ['INVALID_AGENT_RESPONSE', 502],
    ['TASK_NOT_FOUND', 404],
    ['UNSUPPORTED_OPERATION', 400],
    ['UNSUPPORTED_OPERATION', 501],
  ])(
    '%s is known by its reason, also under the status %i of the other published table',
    async (reason, status) => {
      const body = {
        error: { code: status, status: 'FAILED_PRECONDITION', message: 'No', details: [info(reason)] },
      };
      expect(await reading('HTTP+JSON', status, body)).toMatchObject({ reason, message: 'No' });
    },
  );

  it.each([
    ['a JSON-RPC code at the root', 404, { code: -32001, message: 'Task not found' }, 'TASK_NOT_FOUND'],
    [
      'a JSON-RPC code in an envelope',
      400,
      { error: { code: -32002, message: 'No' } },
      'TASK_NOT_CANCELABLE',
    ],
    [
      'details that are no list',
      400,
      { error: { code: -32004, message: 'No', details: {} } },
      'UNSUPPORTED_OPERATION',
    ],
    ['problem details', 503, { type: 'about:blank', title: 'Down' }, 'UNAVAILABLE'],
    [
      'a reason of another domain',
      403,
      { error: { details: [info('TASK_NOT_FOUND', 'example.com')] } },
      'PERMISSION_DENIED',
    ],
    ['nothing that is known', 418, { teapot: true }, 'INVALID_AGENT_RESPONSE'],
  ])('reads %s', async (_, status, body, reason) => {
    expect((await reading('HTTP+JSON', status, body)).reason).toBe(reason);
  });
});

describe('errors on JSON-RPC [R-ERR-04, R-RPC-11]', () => {
  const failure = (error: object, id: unknown = 1) => ({ jsonrpc: '2.0', id, error });

  it.each([
    ['a code without data', 200, failure({ code: -32001, message: 'Gone' }), 'TASK_NOT_FOUND'],
    [
      'data that is an object',
      200,
      failure({ code: -32002, message: 'No', data: { why: 'late' } }),
      'TASK_NOT_CANCELABLE',
    ],
    [
      'data that is text',
      200,
      failure({ code: -32005, message: 'No', data: 'late' }),
      'CONTENT_TYPE_NOT_SUPPORTED',
    ],
    [
      'no id, because the request could not be read',
      200,
      failure({ code: -32700, message: 'No' }, null),
      'PARSE_ERROR',
    ],
    [
      'a reason that says more than the code',
      200,
      failure({ code: -32603, data: [info('TASK_NOT_FOUND')] }),
      'TASK_NOT_FOUND',
    ],
    ['a status that is not 200', 404, failure({ code: -32001, message: 'Gone' }), 'TASK_NOT_FOUND'],
    ['an unknown code', 200, failure({ code: -32099, message: 'Eh' }), 'INTERNAL_ERROR'],
    ['neither result nor error', 200, { jsonrpc: '2.0', id: 1 }, 'INVALID_AGENT_RESPONSE'],
    ['an error that is no object', 200, { jsonrpc: '2.0', id: 1, error: 'broken' }, 'INVALID_AGENT_RESPONSE'],
    ['a list', 200, [], 'INVALID_AGENT_RESPONSE'],
  ])('reads %s', async (_, status, body, reason) => {
    expect((await reading('JSONRPC', status, body)).reason).toBe(reason);
  });
});

describe('ClientError', () => {
  it('is recognised by name and code, whichever copy of the package made it', () => {
    const error = new ClientError('NETWORK', 'No', new Error('reset'));
    expect([
      ClientError.is(error),
      ClientError.is(error, 'NETWORK'),
      ClientError.is(error, 'TIMEOUT'),
    ]).toEqual([true, true, false]);
    expect(ClientError.is({ name: 'ClientError', code: 'TIMEOUT' }, 'TIMEOUT')).toBe(true);
    expect([undefined, null, 'NETWORK', new Error('NETWORK')].map((value) => ClientError.is(value))).toEqual(
      Array(4).fill(false),
    );
    expect(error.cause).toMatchObject({ message: 'reset' });
    expect('cause' in new ClientError('NETWORK', 'No')).toBe(false);
  });
});
