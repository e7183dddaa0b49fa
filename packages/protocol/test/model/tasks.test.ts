import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { Part, TaskState } from '../../src/model/messages.ts';
import { SendMessageResponse, StreamResponse, Task } from '../../src/model/tasks.ts';
import { fieldViolations } from '../../src/parse-params.ts';

const status = { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00.000Z' } as const;
const message: SendMessageResponse = {
  message: { messageId: 'm-1', role: 'ROLE_AGENT', contextId: 'c-1', parts: [{ text: 'hi' }] },
};
const task: Task = {
  id: 't-1',
  contextId: 'c-1',
  status: { ...status, message: message.message },
  artifacts: [{ artifactId: 'a-1', name: 'result', parts: [{ data: null }], metadata: { a: 1 } }],
  history: [message.message],
};

const violations = (value: unknown) => {
  const { error } = StreamResponse.safeParse(value);
  return error ? fieldViolations(error).map(({ field, description }) => `${field}: ${description}`) : [];
};

describe('the data model of answers', () => {
  it('numbers the task states as the proto does [R-DM-03]', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map((number) => TaskState.parse(number))).toEqual([
      'TASK_STATE_UNSPECIFIED',
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
      'TASK_STATE_FAILED',
      'TASK_STATE_CANCELED',
      'TASK_STATE_INPUT_REQUIRED',
      'TASK_STATE_REJECTED',
      'TASK_STATE_AUTH_REQUIRED',
    ]);
    expect(TaskState.safeParse(9).success).toBe(false);
  });

  it('takes a timeline, and leaves out entries of a kind that it does not know [R-P11-41] [R-P11-54]', () => {
    const timeline = [{ ...message, generation: '1' }, { status }];
    const parsed = Task.parse({
      ...task,
      timeline: [timeline[0], { toolCall: {}, generation: '2' }, timeline[1]],
    });
    expect(parsed).toEqual({ ...task, timeline });
    expect(Task.safeParse({ ...task, timeline: [{ ...message, status }] }).success).toBe(false);
  });

  it('takes a task as it is [R-DM-01]', () => {
    expect(Task.parse(task)).toEqual(task);
    expect(Task.parse({ id: 't-1', status: { state: 'TASK_STATE_UNSPECIFIED' } })).toEqual({
      id: 't-1',
      status: { state: 'TASK_STATE_UNSPECIFIED' },
    });
  });

  it.each<[string, StreamResponse]>([
    ['task', { task }],
    ['message', message],
    ['statusUpdate', { statusUpdate: { taskId: 't-1', contextId: 'c-1', status, metadata: {} } }],
    [
      'artifactUpdate',
      {
        artifactUpdate: {
          taskId: 't-1',
          contextId: 'c-1',
          artifact: { artifactId: 'a-1', parts: [{ text: 'lo' }] },
          append: true,
          lastChunk: true,
        },
      },
    ],
  ])('takes a stream event with %s as it is [R-DM-10]', (_, event) => {
    expect(StreamResponse.parse(event)).toEqual(event);
  });

  it.each<[unknown, string[]]>([
    [{}, [': must have exactly one of task, message, statusUpdate, artifactUpdate; has none']],
    [
      { task, ...message },
      [': must have exactly one of task, message, statusUpdate, artifactUpdate; has task and message'],
    ],
    [
      { statusUpdate: { taskId: 't-1', status: {} } },
      ['statusUpdate.contextId: is required', 'statusUpdate.status.state: is required'],
    ],
    [
      { artifactUpdate: { taskId: 't', contextId: 'c', artifact: { artifactId: 'a', parts: [] } } },
      ['artifactUpdate.artifact.parts: must have at least one part'],
    ],
  ])('refuses the event %j with a path for every violation [R-JSON-14]', (event, expected) => {
    expect(violations(event)).toEqual(expected);
  });

  it('has at most one answer to a send [R-SEND-01]', () => {
    expect(SendMessageResponse.parse(message)).toEqual(message);
    expect(SendMessageResponse.safeParse({ task, ...message }).success).toBe(false);
  });
});

describe('a part', () => {
  it('narrows by its content', () => {
    const describePart = (part: Part) => {
      if ('text' in part) {
        expectTypeOf(part.text).toEqualTypeOf<string>();
        return `text ${part.text}`;
      }
      if ('raw' in part) return `raw ${part.raw}`;
      if ('url' in part) return `url ${part.url}`;
      expectTypeOf(part.data).toEqualTypeOf<Json>();
      return `data ${JSON.stringify(part.data)}`;
    };
    const contents = [{ text: 'a' }, { raw: 'AA==' }, { url: 'https://x.example/' }, { data: null }];
    expect(contents.map((content) => describePart(Part.parse(content)))).toEqual([
      'text a',
      'raw AA==',
      'url https://x.example/',
      'data null',
    ]);
  });
});
