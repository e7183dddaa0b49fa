import type { Part, Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { answerTo, frontEndCalls, interruptsOf } from '../src/interrupts.ts';

const taskOf = (state: string, ...parts: Part[]) =>
  ({
    id: 'task',
    contextId: 'c',
    status: {
      state: `TASK_STATE_${state}`,
      ...(parts.length > 0 && { message: { messageId: 'q', role: 'ROLE_AGENT', parts } }),
    },
  }) as Task;
const call = (toolCallId: string, needs: string, more: object = {}) => ({
  toolCallId,
  toolName: 'pay',
  input: { a: 1 },
  needs,
  ...more,
});
const waiting = (...toolCalls: object[]) => taskOf('INPUT_REQUIRED', { data: { toolCalls } } as never);
const none = new Map();

describe('the interrupts of a task', () => {
  it('are its question', () => {
    const asked = taskOf('INPUT_REQUIRED', { text: 'Which?' });
    expect(interruptsOf(asked)).toEqual([{ id: 'q', reason: 'input_required', message: 'Which?' }]);
    expect(interruptsOf(taskOf('INPUT_REQUIRED'))).toEqual([{ id: 'task', reason: 'input_required' }]);
  });

  it('have where a person signs in', () => {
    const [text, data, url] = [{ text: 'Sign in' }, { data: 1 }, { url: 'https://a' }];
    expect(interruptsOf(taskOf('AUTH_REQUIRED', text, data, url))).toEqual([
      { id: 'q', reason: 'baton:auth_required', message: 'Sign in', metadata: { parts: [data, url] } },
    ]);
    expect(interruptsOf(taskOf('AUTH_REQUIRED'))).toEqual([
      { id: 'task', reason: 'baton:auth_required', metadata: { parts: [] } },
    ]);
  });

  it('are one for each call to approve, and none for those that the front end makes', () => {
    const task = waiting(
      call('a', 'approval'),
      call('b', 'approval', { reason: 'Much' }),
      call('c', 'output'),
    );
    const approval = (id: string, message: string) => ({
      id: `q/${id}`,
      reason: 'tool_call',
      toolCallId: id,
      message,
      responseSchema: {
        type: 'object',
        properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
        required: ['approved'],
      },
      metadata: { toolName: 'pay', input: { a: 1 } },
    });
    expect(interruptsOf(task)).toEqual([approval('a', 'May the tool "pay" run?'), approval('b', 'Much')]);
    expect(frontEndCalls(task).map(({ toolCallId }) => toolCallId)).toEqual(['c']);
  });
});

describe('the answer to interrupts', () => {
  const resolved = (interruptId: string, payload?: unknown) =>
    ({ interruptId, status: 'resolved', ...(payload !== undefined && { payload }) }) as never;
  const cancelled = (interruptId: string) => ({ interruptId, status: 'cancelled' }) as never;

  it('to a question is what the user said', () => {
    const asked = taskOf('INPUT_REQUIRED', { text: 'Which?' });
    expect(answerTo(asked, [resolved('q', 'This')], none)).toEqual([{ text: 'This' }]);
    expect(answerTo(asked, [resolved('q')], none)).toEqual([{ text: '' }]);
    expect(answerTo(asked, [cancelled('q')], none)).toBeUndefined();
  });

  it('to calls has all of them, and the results of the front end', () => {
    const task = waiting(call('a', 'approval'), call('b', 'approval'), call('c', 'output'));
    const results = new Map([['c', 7]]);
    const answers = [resolved('q/a', { approved: true }), cancelled('q/b')];
    expect(answerTo(task, answers, results)).toEqual([{ data: { a: { approved: true }, b: false, c: 7 } }]);
    expect(answerTo(task, [resolved('q/a'), resolved('q/b', 1)], results)).toEqual([
      { data: { a: false, b: 1, c: 7 } },
    ]);
    expect(answerTo(task, [cancelled('q/a'), cancelled('q/b')], results)).toBeUndefined();
    expect(answerTo(waiting(call('c', 'output')), [], results)).toEqual([{ data: { c: 7 } }]);
  });

  it.each<[string, readonly never[], string]>([
    ['of none', [resolved('q/x')], 'No interrupt q/x is open'],
    ['that is missing', [resolved('q/a', 1)], 'The interrupt q/b has no answer'],
    ['without a result', [resolved('q/a', 1), resolved('q/b', 1)], 'The tool call c has no result'],
  ])('%s is refused', (_, answers, message) => {
    const task = waiting(call('a', 'approval'), call('b', 'approval'), call('c', 'output'));
    expect(() => answerTo(task, answers, none)).toThrow(
      expect.objectContaining({ reason: 'INVALID_PARAMS', message }),
    );
  });
});
