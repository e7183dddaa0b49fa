import { weigh } from '@batonjs/lifecycle/internals';
import type { Message, Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { fitTask } from '../../src/log/fit-task.ts';

const OMITTED = 'https://batonjs.dev/a2a/omitted';
const message = (messageId: string, length = 1_000): Message => ({
  ...{ messageId, role: 'ROLE_AGENT', parts: [{ text: messageId.repeat(length) }] },
});
const task: Task = {
  ...{ id: 't', contextId: 'c', metadata: { own: 1 } },
  status: { state: 'TASK_STATE_COMPLETED', message: message('s') },
  artifacts: [{ artifactId: 'a', parts: [{ text: 'a'.repeat(3_000) }] }],
  history: [message('1'), message('2'), message('3')],
};

/** What is left of the task, and what it says is not. */
function shown(bytes: number, whole: Task = task) {
  const { task: fitted, weight } = fitTask(whole, bytes);
  expect(weight).toBe(weigh(fitted));
  return [
    [
      ...(fitted.status.message ? ['status'] : []),
      ...(fitted.artifacts ? ['artifacts'] : []),
      ...(fitted.history?.map(({ messageId }) => messageId) ?? []),
    ].join(' '),
    (fitted.metadata?.[OMITTED] as string[] | undefined)?.join(' '),
  ];
}

describe('a task', () => {
  const whole = weigh(task);
  const one = weigh(message('1'));
  const artifacts = weigh(task.artifacts!);

  it('that fits is not touched', () => {
    expect(fitTask(task, whole)).toEqual({ task, weight: whole });
    expect(fitTask(task, whole).task).toBe(task);
  });

  it('loses its oldest messages first, then its artifacts, then the message of its status', () => {
    expect(shown(whole - 100)).toEqual(['status artifacts 2 3', 'history']);
    expect(shown(whole - one)).toEqual(['status artifacts 2 3', 'history']);
    expect(shown(whole - one - 200)).toEqual(['status artifacts 3', 'history']);
    expect(shown(whole - 3 * one)).toEqual(['status artifacts', 'history']);
    expect(shown(whole - artifacts - 3 * one)).toEqual(['status', 'artifacts history']);
    expect(shown(10)).toEqual(['', 'status.message artifacts history']);
  });

  it('keeps newer messages where its artifacts do not fit', () => {
    expect(shown(artifacts)).toEqual(['status 3', 'artifacts history']);
  });

  it('keeps what fits to the byte', () => {
    const { message: said, ...status } = task.status;
    const { artifacts: _, history: __, ...rest } = task;
    const bare = weigh({ ...rest, status });
    const most = bare + weigh(said!) + artifacts;
    expect(shown(most)).toEqual(['status artifacts', 'history']);
    expect(shown(most - 1)[0]).toBe('status 2 3');
    expect(shown(bare + weigh(said!))).toEqual(['status', 'artifacts history']);
    expect(shown(bare + weigh(said!) - 1)).toEqual(['', 'status.message artifacts history']);
    expect(shown(most + 2 * one)).toEqual(['status artifacts 2 3', 'history']);
    expect(shown(most + 2 * one - 1)).toEqual(['status artifacts 3', 'history']);
  });

  it('keeps all of its messages where only its artifacts are too large', () => {
    const large = [{ artifactId: 'a', parts: [{ text: 'a'.repeat(50_000) }] }];
    expect(shown(whole + 1_000, { ...task, artifacts: large })).toEqual(['status 1 2 3', 'artifacts']);
  });

  it('names only what it had, and keeps all else', () => {
    const { history: _, artifacts: __, ...bare } = task;
    expect(shown(10, bare)).toEqual(['', 'status.message']);
    const { task: fitted } = fitTask({ ...bare, status: { state: 'TASK_STATE_COMPLETED' } }, 1);
    expect(fitted).toEqual({
      ...{ id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } },
      metadata: { own: 1, [OMITTED]: [] },
    });
  });
});
