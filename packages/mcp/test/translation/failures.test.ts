import { A2AError, ClientError } from '@batonjs/client';
import { SkillError } from '@batonjs/extensions/client';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { describeFailure, failedResult, protocolError } from '../../src/translation/results.ts';

const { InvalidParams, InvalidRequest, InternalError } = ProtocolErrorCode;
const issues = [
  { path: 'a.b', message: 'is no number' },
  { path: '', message: 'is too much' },
];

/** What clients read of an error, the code of a method that fails with it, and whether the operator sees it. */
const failures: readonly (readonly [unknown, string, ProtocolErrorCode, boolean])[] = [
  [
    new A2AError('UNAUTHENTICATED', 'secret'),
    'The agent refused the credentials of this MCP server (UNAUTHENTICATED)',
    InvalidRequest,
    false,
  ],
  [
    new A2AError('PERMISSION_DENIED', 'secret'),
    'The agent refused the credentials of this MCP server (PERMISSION_DENIED)',
    InvalidRequest,
    false,
  ],
  [
    new A2AError('INVALID_PARAMS', 'No such page'),
    'The agent refused the call (INVALID_PARAMS): No such page',
    InvalidParams,
    false,
  ],
  [
    new A2AError('TASK_NOT_CANCELABLE', 'It has ended'),
    'The agent refused the call (TASK_NOT_CANCELABLE): It has ended',
    InvalidParams,
    false,
  ],
  [
    new A2AError('UNSUPPORTED_OPERATION', 'Not here'),
    'The agent refused the call (UNSUPPORTED_OPERATION): Not here',
    InvalidRequest,
    false,
  ],
  [new A2AError('INTERNAL_ERROR', 'secret'), 'Internal error', InvalidRequest, true],
  [
    new ClientError('NETWORK', 'No contact with http://secret'),
    'The agent cannot be called (NETWORK)',
    InternalError,
    true,
  ],
  [
    new SkillError('INVALID_INPUT', 'It does not fit', issues),
    'It does not fit\na.b: is no number\nis too much',
    InternalError,
    false,
  ],
  [new Error('secret'), 'Internal error', InternalError, true],
  ['secret', 'Internal error', InternalError, true],
  [undefined, 'Internal error', InternalError, true],
];

describe.each(failures)('of the failure %s', (error, words, code, isNoted) => {
  const noting = <T>(describeIt: (onError: (error: unknown) => void) => T) => {
    const noted: unknown[] = [];
    return { given: describeIt((each) => noted.push(each)), noted };
  };
  const seen = isNoted ? [error] : [];

  it('a client reads what it may know, and the operator sees the rest', () => {
    expect(noting((onError) => describeFailure(error, onError))).toEqual({ given: words, noted: seen });
    expect(noting((onError) => failedResult(error, onError))).toEqual({
      given: { content: [{ type: 'text', text: words }], isError: true },
      noted: seen,
    });
  });

  it('a method has the code', () => {
    const { given, noted } = noting((onError) => protocolError(error, onError));
    expect(given).toBeInstanceOf(ProtocolError);
    expect([given.code, given.message, noted]).toEqual([code, words, seen]);
  });
});

it('a task that does not exist is a wrong parameter of a method, and no more is said', () => {
  const noted: unknown[] = [];
  const { code, message } = protocolError(new A2AError('TASK_NOT_FOUND', 'secret'), (error) =>
    noted.push(error),
  );
  expect([code, message, noted]).toEqual([InvalidParams, 'Task not found', []]);
});

it('an error of MCP is passed on as it is', () => {
  const error = new ProtocolError(ProtocolErrorCode.MethodNotFound, 'No such method');
  const fail = () => expect.unreachable();
  expect(protocolError(error, fail)).toBe(error);
  expect(() => failedResult(error, fail)).toThrow(error);
});
