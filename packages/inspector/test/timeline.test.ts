import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import type { Entry, Notice } from '../src/api/timeline.ts';
import { Timeline } from '../src/app/timeline/timeline.ts';

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const fact = (seq: number, ms: number, more: object): Entry => ({
  seq,
  at: at(ms),
  fact: { format: FACT_FORMAT, at: at(ms), ...more } as Fact,
});
const status = (seq: number, ms: number, state: string) =>
  fact(seq, ms, { type: 'status-changed', status: { state } });
const chunk = (seq: number, ms: number, text: string) =>
  fact(seq, ms, {
    type: 'artifact-updated',
    artifact: { artifactId: 'a', parts: [{ text }] },
    append: seq > 4,
  });

const entries: readonly Entry[] = [
  fact(1, 0, {
    type: 'message-received',
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] },
  }),
  fact(2, 0, { type: 'task-created', taskId: 't', contextId: 'c' }),
  fact(3, 10, { type: 'turn-started', turn: 1, attempt: 1, messageIds: ['m'] }),
  chunk(4, 30, 'one '),
  chunk(5, 1_530, 'two'),
  status(6, 1_600, 'TASK_STATE_WORKING'),
  fact(7, 2_000, { type: 'turn-ended', turn: 1 }),
  status(8, 2_100, 'TASK_STATE_COMPLETED'),
];

const timelineOf = (...given: readonly (readonly Entry[])[]) => {
  const timeline = new Timeline();
  for (const each of given) timeline.add(each);
  return timeline;
};

describe('a timeline', () => {
  it('has the gap before each row, and how long turns and states lasted', () => {
    const { rows } = timelineOf(entries);
    expect(rows.map(({ gapMs }) => gapMs)).toEqual([undefined, 0, 10, 20, 1_500, 70, 400, 100]);
    expect(rows.map(({ durationMs }) => durationMs).filter(Boolean)).toEqual([1_990, 500]);
  });

  it('gives the task as it was after any row, with what was said before there was a task', () => {
    const timeline = timelineOf(entries);
    expect(timeline.at(1).task).toBeUndefined();
    expect(timeline.at(1).messages.length).toBe(1);
    expect(timeline.at(2).task).toMatchObject({
      id: 't',
      status: { state: 'TASK_STATE_SUBMITTED' },
      history: [{ messageId: 'm' }],
    });
    expect(timeline.at(4).task?.artifacts?.[0]?.parts).toEqual([{ text: 'one ' }]);
    expect(timeline.at(5).task?.artifacts?.[0]?.parts).toEqual([{ text: 'one ' }, { text: 'two' }]);
    expect(timeline.at(5).turn).toBe(1);
    expect(timeline.live.task).toEqual(timeline.at(8).task);
  });

  it('has a notice that comes again after a reconnection once', () => {
    const notice = (fence: number): Entry => ({
      seq: 8,
      at: at(3_000),
      notice: { type: 'lease', fence, isWanted: false } as Notice,
    });
    expect(timelineOf(entries, [notice(1)], [notice(1)], [notice(2)]).rows.length).toBe(10);
  });

  it('shows entries that it cannot read as such, and those after them', () => {
    const broken = [
      fact(9, 1, { type: 'status-changed' }),
      { seq: 10, event: { artifactUpdate: { artifact: null } } },
      { seq: 11, message: {} },
    ] as unknown as Entry[];
    const timeline = timelineOf(entries, broken, [status(12, 4_000, 'TASK_STATE_COMPLETED')]);
    expect(timeline.rows.slice(8).map(({ described }) => described.label)).toEqual([
      'Unreadable entry',
      'Unreadable entry',
      'Unreadable entry',
      'Completed',
    ]);
    expect(timeline.at(12).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});
