import { type Fact, type Head, headOf, labelProblem, replay } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import { create, given, labelled, receive, startTurn, to } from './given.ts';

describe('labels', () => {
  it('are at most 16 texts of 1 to 64 characters', () => {
    const sixteen = Array.from({ length: 16 }, (_, n) => `label ${n}`);
    expect(labelProblem([])).toBeUndefined();
    expect(labelProblem(sixteen)).toBeUndefined();
    expect(labelProblem(['x'.repeat(64), 'é', 'invoice:42', ' '])).toBeUndefined();
    expect(labelProblem([...sixteen, 'one more'])).toBe(
      'A task has at most 16 labels, and "one more" is one more',
    );
    // What is shown of one is bounded, too: 64 characters are, 65 are not.
    expect(labelProblem([...sixteen, 'x'.repeat(62)])).toContain(`, and "${'x'.repeat(62)}" is one more`);
    expect(labelProblem([...sixteen, 'x'.repeat(63)])).toContain(`, and "${'x'.repeat(63)}… is one more`);
    expect(labelProblem('eu')).toBe('Labels are an array of texts');
    expect(labelProblem({ length: 0 })).toBe('Labels are an array of texts');
  });

  it.each([
    ['a long one', 'x'.repeat(65), `"${'x'.repeat(63)}…`],
    ['an empty one', '', '""'],
    ['one with a NUL', 'a\0b', '"a\\u0000b"'],
    ['one with a new line', 'a\nb', '"a\\nb"'],
    ['half a character', '\ud800', '"\\ud800"'],
    ['a number', 42, '42'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
  ])('of which %s is none, and the reason names it', (_, label, shown) => {
    expect(labelProblem(['eu', label])).toBe(
      `The label ${shown} is not a text of 1 to 64 characters without control characters`,
    );
  });

  it('are replaced by an update, each once, apart from those given to the task, and one that changes none writes no fact', () => {
    const after = (before: string[], ...updates: string[][]) =>
      given({ ...receive('m1'), labels: before } as never, create, startTurn, ...updates.map(labelled));
    const next = after(['eu'], ['eu'], ['us', 'eu', 'us']);
    expect(next.now.labels).toEqual(['eu', 'us']);
    expect(next.facts.filter(({ type }) => type === 'labels-set')).toMatchObject([{ labels: ['eu', 'us'] }]);
    expect(after(['eu'], ['us'], ['de']).now.labels).toEqual(['eu', 'de']);
    expect(after(['eu', 'us'], ['eu']).now.labels).toEqual(['eu', 'us']);
    expect(after(['eu'], ['us'], []).now.labels).toEqual(['eu']);
    const none = after([], ['us'], []);
    expect(none.now.labels).toBeUndefined();
    expect(headAfter(none.facts).labels).toBeUndefined();
    const many = Array.from({ length: 16 }, (_, n) => String(n));
    expect(() => after(['eu'], many)).toThrow('at most 16 labels');
  });

  it('stand in the head beside the skills of messages and the code of a failure', () => {
    const failure = (parts: readonly object[], state = 'TASK_STATE_FAILED') =>
      ({
        type: 'update',
        update: {
          status: { state, message: { messageId: 'r1', role: 'ROLE_AGENT', parts } },
          labels: ['late'],
        },
      }) as never;
    const skilled = (id: string, skill: string) => ({ ...receive(id), skill }) as never;
    const begun = [
      skilled('m1', 'pay'),
      create,
      startTurn,
      { ...(skilled('m2', 'ask') as object), message: { ...said('m2') } } as never,
    ];
    const of = (...commands: never[]) => headAfter(given(...(begun as never[]), ...commands).facts);
    expect(of(failure([{ text: 'no' }, { data: { code: 'NO_FUNDS' } }]))).toMatchObject({
      labels: ['late'],
      skills: ['pay', 'ask'],
      code: 'NO_FUNDS',
    });
    expect(
      of(failure([{ data: { code: 42 } }, { data: null }, { data: { code: 'x'.repeat(65) } }])).code,
    ).toBe(undefined);
    expect(of(failure([{ data: { code: 'NOT_FAILED' } }], 'TASK_STATE_COMPLETED')).code).toBeUndefined();
    expect(of().skills).toEqual(['pay', 'ask']);
    expect(of(skilled('m3', 'pay')).skills).toEqual(['pay', 'ask']);
    for (const member of ['labels', 'code']) expect(of(to('FAILED') as never)).not.toHaveProperty(member);
    const unlabelled = given({ ...receive('m1'), labels: [] } as never, create).facts;
    expect(headAfter(unlabelled)).not.toHaveProperty('labels');
    expect(headAfter(unlabelled)).not.toHaveProperty('skills');
  });
});

const said = (messageId: string) => ({
  messageId,
  contextId: 'context',
  taskId: 'task',
  role: 'ROLE_USER',
  parts: [{ text: 'more' }],
});

function headAfter(facts: readonly Fact[]): Head {
  expect(replay(facts)).toBeDefined();
  return facts.reduce<Head | undefined>(headOf, undefined)!;
}
