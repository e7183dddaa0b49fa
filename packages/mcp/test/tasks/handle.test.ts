import type { Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { detailedTask, handleOf, readHandle } from '../../src/tasks/detailed-task.ts';
import { ClosedQuestions } from '../../src/tasks/input-requests.ts';
import { readTaskOptions } from '../../src/tasks/task-options.ts';

const at = '2026-11-26T03:00:00.000Z';
const taskOf = (id: string, more: Partial<Task['status']> = {}): Task => ({
  id,
  status: { state: 'TASK_STATE_WORKING', timestamp: at, ...more },
});
const timed = '019ab2d4-5e6f-7abc-8def-0123456789ab';
const random = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

describe('[R-MT-58, R-MT-59] a handle', () => {
  it('is the id of the task where that begins with its time', () => {
    expect(handleOf(taskOf(timed))).toBe(timed);
    expect(readHandle(timed)).toEqual({ id: timed, createdAt: 0x019ab2d45e6f });
  });

  it.each([random, 'x', 'a~b', `${timed}x`, 'täsk/1'])(
    'of the task %s carries the time of its first status',
    (id) => {
      const handle = handleOf(taskOf(id));
      expect(readHandle(handle)).toEqual({ id, createdAt: Date.parse(at) });
      const view = { client: {}, settings: readTaskOptions({}, 0), closedQuestions: new ClosedQuestions() };
      const later = detailedTask(taskOf(id, { timestamp: '2026-11-26T04:00:00.000Z' }), handle, view);
      expect([later.taskId, later.createdAt, later.lastUpdatedAt]).toEqual([
        handle,
        at,
        '2026-11-26T04:00:00.000Z',
      ]);
    },
  );

  it('may be the id of a task that another tool told, without a time', () => {
    expect(readHandle(random)).toEqual({ id: random, createdAt: undefined });
  });

  it('of a task whose agent tells no time carries the present', () => {
    const before = Date.now();
    const { createdAt = 0 } = readHandle(handleOf({ id: 'x', status: { state: 'TASK_STATE_WORKING' } }));
    expect(createdAt >= before && createdAt <= Date.now()).toBe(true);
  });
});

describe('a question that was closed', () => {
  const asking = (messageId: string, id = 'task'): Task =>
    taskOf(id, {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { messageId, role: 'ROLE_AGENT', parts: [{ text: 'Who?' }] },
    });

  it('[R-MT-34, R-MT-57] has one more key, and only for its own task', () => {
    const closedQuestions = new ClosedQuestions();
    closedQuestions.close(asking('m'), 'm');
    expect(closedQuestions.keyOf(asking('m'))).toBe('m~2');
    expect(closedQuestions.keyOf(asking('m', 'other'))).toBe('m');
    expect(closedQuestions.keyOf(asking('n'))).toBe('n');
    closedQuestions.close(asking('m'), 'm~2');
    expect(closedQuestions.keyOf(asking('m'))).toBe('m~2');
    expect(['m', 'm~2', 'm~3', 'n'].map((key) => closedQuestions.isKeyOf(asking('m'), key))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('is forgotten after a thousand others', () => {
    const closedQuestions = new ClosedQuestions();
    for (let n = 0; n <= 1_000; n += 1) closedQuestions.close(asking(`m${n}`), `m${n}`);
    expect(closedQuestions.keyOf(asking('m0'))).toBe('m0');
    expect(closedQuestions.keyOf(asking('m1'))).toBe('m1~2');
  });

  it('has the time of its status as a key where it is no message', () => {
    expect(new ClosedQuestions().keyOf(taskOf('t', { state: 'TASK_STATE_INPUT_REQUIRED' }))).toBe(`t@${at}`);
  });
});

describe('the options for tasks', () => {
  it('have a default for each tool', () => {
    expect(readTaskOptions({}, 0).supportOf('x')).toBe('immediate');
    expect(readTaskOptions({}, 5).supportOf('toString')).toBe('deferred');
    expect(readTaskOptions({ tools: { x: 'required' } }, 5).supportOf('x')).toBe('required');
  });

  it.each([
    [
      { tools: { x: 'optional' } },
      'tasks.tools: x is one of immediate, deferred, required, forbidden, not optional',
    ],
    [{ tools: { x: 'deferred' } }, 'tasks.tools: x is deferred, which needs a waitMs above 0'],
    [{ pollIntervalMs: 0 }, 'tasks.pollIntervalMs is a whole number of milliseconds above 0, not 0'],
    [{ retentionMs: 1.5 }, 'tasks.retentionMs is a whole number of milliseconds above 0, not 1.5'],
    [{ retention: 1 }, 'There is no option `tasks.retention`: did you mean `tasks.retentionMs`?'],
  ])('%j is refused with a sentence', (options, sentence) => {
    expect(() => readTaskOptions(options as never, 0)).toThrow(sentence);
  });
});
