import { describe, expect, it } from 'vitest';
import {
  A2A_DOMAIN,
  A2AError,
  type ErrorReason,
  errorTable,
  invalidParams,
  invalidRequest,
} from '../src/errors.ts';

// The catalogue of the specification (§5.4), written down once more so that a slip in the table shows.
const catalogue: [ErrorReason, jsonRpc: number, http: number, status: string][] = [
  ['TASK_NOT_FOUND', -32001, 404, 'NOT_FOUND'],
  ['TASK_NOT_CANCELABLE', -32002, 400, 'FAILED_PRECONDITION'],
  ['PUSH_NOTIFICATION_NOT_SUPPORTED', -32003, 400, 'FAILED_PRECONDITION'],
  ['UNSUPPORTED_OPERATION', -32004, 400, 'FAILED_PRECONDITION'],
  ['CONTENT_TYPE_NOT_SUPPORTED', -32005, 400, 'INVALID_ARGUMENT'],
  ['INVALID_AGENT_RESPONSE', -32006, 500, 'INTERNAL'],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32007, 400, 'FAILED_PRECONDITION'],
  ['EXTENSION_SUPPORT_REQUIRED', -32008, 400, 'FAILED_PRECONDITION'],
  ['VERSION_NOT_SUPPORTED', -32009, 400, 'FAILED_PRECONDITION'],
  ['TASK_GENERATION_MISMATCH', -32010, 409, 'ABORTED'],
];

// The standard errors of JSON-RPC keep their standard messages.
const standard: [ErrorReason, jsonRpc: number, http: number, status: string, message: string][] = [
  ['PARSE_ERROR', -32700, 400, 'INVALID_ARGUMENT', 'Invalid JSON payload'],
  ['INVALID_REQUEST', -32600, 400, 'INVALID_ARGUMENT', 'Request payload validation error'],
  ['METHOD_NOT_FOUND', -32601, 404, 'UNIMPLEMENTED', 'Method not found'],
  ['INVALID_PARAMS', -32602, 400, 'INVALID_ARGUMENT', 'Invalid parameters'],
  ['INTERNAL_ERROR', -32603, 500, 'INTERNAL', 'Internal error'],
];

const added: [ErrorReason, jsonRpc: number, http: number][] = [
  ['METHOD_NOT_ALLOWED', -32601, 405],
  ['UNAUTHENTICATED', -32600, 401],
  ['PERMISSION_DENIED', -32600, 403],
  ['MESSAGE_ID_CONFLICT', -32602, 409],
  ['PAYLOAD_TOO_LARGE', -32600, 413],
  ['UNSUPPORTED_MEDIA_TYPE', -32600, 415],
  ['RESOURCE_EXHAUSTED', -32603, 429],
  ['UNAVAILABLE', -32603, 503],
];

describe('the error table', () => {
  it.each(catalogue)(
    'has %s as the specification has it, in its domain [R-ERR-03]',
    (reason, jsonRpc, http, status) => {
      const row = errorTable[reason];
      expect(row).toMatchObject({ jsonRpc, http, status });
      expect('domain' in row ? row.domain : A2A_DOMAIN).toBe('a2a-protocol.org');
    },
  );

  it.each(standard)(
    'has %s with its standard message, in the domain of the protocol [R-ERR-03] [R-ERR-07]',
    (reason, jsonRpc, http, status, message) => {
      expect(errorTable[reason]).toEqual({ jsonRpc, http, status, message });
    },
  );

  it.each(added)('has %s in a domain of its own [R-IDX-04]', (reason, jsonRpc, http) => {
    expect(errorTable[reason]).toMatchObject({ jsonRpc, http, domain: 'batonjs.dev' });
  });

  it('has nothing else', () => {
    const reasons = [...catalogue, ...standard, ...added].map(([reason]) => reason);
    expect(Object.keys(errorTable).sort()).toEqual(reasons.sort());
  });
});

describe('A2AError', () => {
  it('takes its message from the table unless it is given one', () => {
    expect(new A2AError('TASK_NOT_FOUND').message).toBe('Task not found');
    expect(new A2AError('TASK_NOT_FOUND', 'No such task').message).toBe('No such task');
  });

  it('is recognised across copies of the package, and by nothing but its brand', () => {
    const fromAnotherCopy = Object.assign(new Error('x'), {
      reason: 'TASK_NOT_FOUND',
      [Symbol.for('batonjs.A2AError')]: true,
    });
    expect(A2AError.is(new A2AError('TASK_NOT_FOUND'))).toBe(true);
    expect(A2AError.is(fromAnotherCopy)).toBe(true);
    for (const other of [new Error('x'), { reason: 'TASK_NOT_FOUND' }, 'TASK_NOT_FOUND', null, undefined]) {
      expect(A2AError.is(other)).toBe(false);
    }
  });

  it('is recognised by its reason where one is asked for', () => {
    const error = new A2AError('TASK_NOT_FOUND');
    expect(A2AError.is(error, 'TASK_NOT_FOUND')).toBe(true);
    expect(A2AError.is(error, 'INTERNAL_ERROR')).toBe(false);
    expect(A2AError.is({ reason: 'TASK_NOT_FOUND' }, 'TASK_NOT_FOUND')).toBe(false);
  });

  it('passes through A2A errors and hides everything else behind INTERNAL_ERROR [R-ERR-11]', () => {
    const known = new A2AError('TASK_NOT_FOUND');
    expect(A2AError.from(known)).toBe(known);

    const thrown = new Error('password=hunter2');
    const hidden = A2AError.from(thrown);
    expect(hidden).toMatchObject({ reason: 'INTERNAL_ERROR', message: 'Internal error', details: [] });
    expect(hidden.metadata).toBeUndefined();
    expect(hidden.cause).toBe(thrown);
    expect(JSON.stringify(hidden)).not.toContain('hunter2');
  });

  it('names violations in a BadRequest [R-ERR-02]', () => {
    const violations = [{ field: 'message.contextId', description: 'is not the context of the task' }];
    const details = [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }];
    expect(invalidParams(violations)).toMatchObject({ reason: 'INVALID_PARAMS', details });
    expect(invalidRequest(violations)).toMatchObject({ reason: 'INVALID_REQUEST', details });
  });
});
