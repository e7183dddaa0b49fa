import { A2AError } from '@batonjs/client';
import { ProtocolError } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { taskFailure } from '../../src/tasks/task-requests.ts';

describe('the error of a request about a task', () => {
  const internal = new ProtocolError(-32_021, 'Missing');
  it.each([
    [internal, -32_021, 'Missing', 0],
    [new A2AError('TASK_NOT_FOUND', 'No task t'), -32_602, 'Task not found', 0],
    [
      new A2AError('INVALID_PARAMS', 'No such form'),
      -32_602,
      'The agent refused the call (INVALID_PARAMS): No such form',
      0,
    ],
    [
      new A2AError('UNSUPPORTED_OPERATION', 'Not here'),
      -32_603,
      'The agent refused the call (UNSUPPORTED_OPERATION): Not here',
      0,
    ],
    [new TypeError('secret'), -32_603, 'Internal error', 1],
  ])('[R-MT-40, R-MT-56] %s', (error, code, message, seen) => {
    const errors: unknown[] = [];
    const failure = taskFailure(error, (one) => errors.push(one));
    expect([failure.code, failure.message, errors.length]).toEqual([code, message, seen]);
  });
});
