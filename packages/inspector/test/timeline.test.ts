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

it('says in words what the agent keeps, why it failed and when it is tried again', () => {
  const until = at(60_000);
  const again = new Date(until).toLocaleString();
  const turn = { turn: 2 };
  const { rows } = timelineOf([
    fact(1, 0, { type: 'step-failed', ...turn, name: 's', attempt: 1, message: 'Busy', retryAt: until }),
    fact(2, 0, { type: 'step-failed', ...turn, name: 's', attempt: 2, message: 'Gone' }),
    fact(3, 0, {
      type: 'turn-failed',
      ...turn,
      attempt: 3,
      message: 'It broke',
      stack: 'at x',
      retryAt: until,
    }),
    fact(4, 0, { type: 'turn-paused', ...turn, until }),
    fact(5, 0, { type: 'memory-changed', changes: { cart: [1], name: 'x' }, removed: ['old'] }),
    fact(6, 0, { type: 'callback-opened', ...turn, name: 'paid', id: 'b', expiresAt: until }),
    fact(7, 0, { type: 'callback-received', name: 'paid', id: 'b', value: { paid: true } }),
  ]);
  expect(rows.map(({ described: { label, text } }) => `${label}: ${text}`)).toEqual([
    `Step s failed: attempt 1 · Busy · again at ${again}`,
    'Step s failed: attempt 2 · Gone · not tried again',
    `Turn 2 failed: attempt 3 · It broke · again at ${again}`,
    `Turn 2: paused until ${again}`,
    'Memory: cart = [1], name = "x", old forgotten',
    `Callback paid: until ${again}`,
    'Callback paid received: {"paid":true}',
  ]);
});
