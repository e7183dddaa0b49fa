import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../src/api/timeline.ts';
import { dateTime } from '../src/app/parts/words.ts';
import { placeOfName, spansOf } from '../src/app/timeline/spans.ts';
import { listRows, Timeline } from '../src/app/timeline/timeline.ts';

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
  it('has how long turns and states lasted', () => {
    const { rows } = timelineOf(entries);
    expect(rows.map(({ durationMs }) => durationMs).filter(Boolean)).toEqual([1_990, 500]);
  });

  it('says the name of a state once, also where the agent says it too', () => {
    const says = (state: string, text: string) =>
      fact(9, 2_200, {
        type: 'status-changed',
        status: { state, message: { messageId: 's', role: 'ROLE_AGENT', parts: [{ text }] } },
      });
    const { rows } = timelineOf([
      says('TASK_STATE_COMPLETED', 'COMPLETED'),
      says('TASK_STATE_INPUT_REQUIRED', ' input required '),
      says('TASK_STATE_FAILED', 'TASK_STATE_FAILED'),
      says('TASK_STATE_COMPLETED', 'COMPLETED, at last'),
    ]);
    expect(rows.map(({ described: { label, text } }) => `${label} ${text}`)).toEqual([
      'Completed ',
      'Input required ',
      'Failed ',
      'Completed COMPLETED, at last',
    ]);
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

  it('has what a client answers after the question, before there is another status', () => {
    const asks = (seq: number, text: string) =>
      fact(seq, 3_000, {
        type: 'status-changed',
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: { messageId: text, role: 'ROLE_AGENT', parts: [{ text }] },
        },
      });
    const answers = (seq: number, messageId: string) =>
      fact(seq, 3_100, {
        type: 'message-received',
        message: { messageId, role: 'ROLE_USER', parts: [{ text: messageId }] },
      });
    const timeline = timelineOf(entries, [asks(9, 'How much?'), answers(10, '3'), asks(11, 'Of what?')]);
    const said = (count: number) => timeline.at(count).task?.history?.map(({ messageId }) => messageId);
    expect([said(9), said(10), said(11)]).toEqual([
      ['m', 'How much?'],
      ['m', 'How much?', '3'],
      ['m', 'How much?', '3', 'Of what?'],
    ]);
    timeline.add([answers(12, 'tea')]);
    expect(timeline.live.task?.history?.map(({ messageId }) => messageId)).toEqual([
      'm',
      'How much?',
      '3',
      'Of what?',
      'tea',
    ]);
  });

  it('says what the task is about, who began it, and how often the agent was started', () => {
    const timeline = timelineOf(
      [
        fact(1, 0, {
          type: 'message-received',
          message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: 1 }, { text: 'Book\n a taxi' }] },
          caller: { sub: 'ada' },
          labels: ['vip'],
        }),
      ],
      entries.slice(1),
    );
    expect(timeline.live).toMatchObject({
      title: 'Book a taxi',
      caller: 'ada',
      labels: ['vip'],
      attempts: 1,
    });
    timeline.add([
      fact(9, 3_000, { type: 'labels-set', labels: ['title: Journey of Ada', 'late'] }),
      fact(10, 3_000, { type: 'turn-started', turn: 1, attempt: 2, messageIds: ['m'] }),
    ]);
    expect(timeline.live).toMatchObject({ title: 'Journey of Ada', labels: ['late'], attempts: 2 });
    expect(timeline.at(8).title).toBe('Book a taxi');
  });

  it('has facts of the time without a connection before the notice that it is back', () => {
    const notice = (ms: number, state: 'lost' | 'resumed'): Entry => ({
      seq: 8,
      at: at(ms),
      notice: { type: 'connection', link: 'inspector', state },
    });
    const working = (seq: number, ms: number) => status(seq, ms, 'TASK_STATE_WORKING');
    const timeline = timelineOf(
      entries,
      [notice(3_000, 'lost')],
      [notice(5_000, 'resumed')],
      [working(9, 4_000), working(10, 6_000)],
    );
    const times = timeline.rows.map(({ entry }) => entry.at ?? '');
    expect(times).toEqual([...times].sort());
    expect(timeline.at(10).task?.status.state).toBe('TASK_STATE_WORKING');
  });

  it('gives the task after any of many rows, as if it had begun at the first', () => {
    const many = Array.from({ length: 3_000 }, (_, n) => chunk(n + 9, 4_000 + n, `${n} `));
    const timeline = timelineOf(entries, many.slice(0, 1_700), many.slice(1_700));
    for (const count of [8, 507, 508, 1_400, 2_999, 3_008]) {
      const texts = timeline.at(count).task?.artifacts?.[0]?.parts.length;
      expect(texts).toBe(count - 8 + 2);
    }
    timeline.add([chunk(4_000, 9_000, 'last')]);
    expect(timeline.at(3_008).task?.artifacts?.[0]?.parts.length).toBe(3_002);
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

const line = (text: string) => ({ at: at(0), level: 'info' as const, text });

it('has the lines that were logged up to an entry, each with its attempt', () => {
  const log = (seq: number, attempt: number, ...lines: readonly string[]) =>
    fact(seq, 0, { type: 'turn-logged', turn: 1, attempt, lines: lines.map(line) });
  const timeline = timelineOf([...entries.slice(0, 3), log(4, 1, 'One', 'Two'), log(5, 2, 'Three')]);
  const shown = (count: number) =>
    timeline.at(count).logged.map(({ seq, where, lines }) => [seq, where, lines.map(({ text }) => text)]);
  expect(shown(5)).toEqual([
    [4, 'Turn 1', ['One', 'Two']],
    [5, 'Turn 1, attempt 2', ['Three']],
  ]);
  expect(shown(4)).toEqual([[4, 'Turn 1', ['One', 'Two']]]);
  expect(shown(3)).toEqual([]);
});

it('says in words what the agent keeps, why it failed and when it is tried again', () => {
  const until = at(60_000);
  const again = dateTime(until);
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
    fact(8, 0, {
      type: 'turn-logged',
      ...turn,
      attempt: 1,
      lines: [line('One'), line('Two'), line('Three')],
    }),
    fact(9, 0, { type: 'turn-logged', ...turn, attempt: 1, lines: [], full: true }),
  ]);
  expect(rows.map(({ described: { label, text } }) => `${label}: ${text}`)).toEqual([
    `Step s failed: attempt 1 · Busy · again at ${again}`,
    'Step s failed: attempt 2 · Gone · not tried again',
    `Turn 2 failed: attempt 3 · It broke · again at ${again}`,
    `Turn 2: paused until ${again}`,
    'Memory: cart = [1], name = "x", old forgotten',
    `Callback paid: until ${again}`,
    'Callback paid received: {"paid":true}',
    'Log: One · and 2 more lines',
    'Log: no more lines are kept',
  ]);
});

const chunks = [1, 2, 3].map((n) =>
  fact(4 + n, 30 * n, {
    type: 'artifact-updated',
    artifact: { artifactId: 'a', name: 'Report', parts: [{ text: `${n}` }] },
    append: n > 1,
  }),
);

it('folds chunks of one artifact that follow each other, and draws them as one bar', () => {
  const { rows } = timelineOf(entries.slice(0, 3), chunks, [status(8, 200, 'TASK_STATE_COMPLETED')]);
  const listed = listRows(rows, () => true, true);
  expect(listed.map(({ index, chunks, first }) => [index, chunks, first?.entry.seq])).toEqual([
    [0, undefined, undefined],
    [1, undefined, undefined],
    [2, undefined, undefined],
    [5, 3, 5],
    [6, undefined, undefined],
  ]);
  expect(spansOf(rows).filter(({ kind }) => kind === 'chunks')).toEqual([
    { kind: 'chunks', name: 'Report, 3 chunks', from: Date.parse(at(30)), until: Date.parse(at(90)), row: 3 },
  ]);
  const other = fact(7, 60, {
    type: 'artifact-updated',
    artifact: { artifactId: 'b', parts: [{ text: 'x' }] },
    append: false,
  });
  const mixed = timelineOf(entries.slice(0, 3), [chunks[0]!, other, chunks[1]!]);
  expect(listRows(mixed.rows, () => true, true)).toHaveLength(6);
  expect(listRows(rows, () => true, false)).toHaveLength(7);
  expect(listRows(rows, ({ entry }) => entry.seq !== 6, true).at(-2)).toMatchObject({ chunks: 2 });
});

it.each([
  ['after a short bar', 0, 2, { side: 'after', room: 98 }],
  ['in a bar that takes most of the line', 3, 72, { side: 'inside', room: 72 }],
  ['before a bar that ends at the right', 57, 43, { side: 'before', room: 57 }],
  ['in a bar with little room on both sides', 30, 45, { side: 'inside', room: 45 }],
  ['where the line ends', 100, 0.5, { side: 'before', room: 100 }],
] as const)('has the name of a bar where there is room: %s', (_, left, width, place) => {
  expect(placeOfName(left, width)).toEqual(place);
});

it('has the wait before the next try of a step beside its work', () => {
  const failed = { type: 'step-failed', name: 'pay', turn: 1, attempt: 1, message: 'Busy', retryAt: at(400) };
  const paid = { type: 'step-completed', name: 'pay', turn: 1, result: 1 };
  const { rows } = timelineOf([...entries.slice(0, 3), fact(4, 100, failed), fact(5, 431, paid)]);
  const bars = spansOf(rows).map(({ kind, from, until = 0 }) => [
    kind,
    from - Date.parse(at(0)),
    until - from,
  ]);
  expect(bars).toContainEqual(['wait', 100, 300]);
  expect(bars).toContainEqual(['step', 400, 31]);
});

it.each([
  [{ parts: [{ data: { code: 'AGENT_FAILED' } }, { text: 'The agent failed' }] }, 'The agent failed'],
  [{ parts: [{ data: { code: 'X' } }] }, '{"code":"X"}'],
])('a status says its words before its data: %j', (message, text) => {
  const failed = fact(3, 10, { type: 'status-changed', status: { state: 'TASK_STATE_FAILED', message } });
  expect(timelineOf([...entries.slice(0, 2), failed]).rows.at(-1)?.described).toMatchObject({
    text,
    icon: 'warning',
  });
});

it('says who was asked by a link, by whom, and who answered', () => {
  const link = (seq: number, more: object) =>
    fact(seq, 0, {
      type: 'callback-opened',
      name: 'answer',
      id: String(seq),
      turn: 1,
      expiresAt: at(60_000),
      answers: { by: 'Ana', after: 'm', ...more },
    });
  const answer = fact(6, 0, {
    type: 'message-received',
    message: { messageId: 'answer-4', role: 'ROLE_USER', parts: [{ text: 'Yes' }] },
    caller: { answeredBy: 'Ana' },
  });
  const timeline = timelineOf([entries[0]!, link(4, {}), link(5, { by: 'Bo', assignedBy: 'Cy' }), answer]);
  expect(timeline.rows.slice(1).map(({ described: { label, text } }) => `${label}: ${text}`)).toEqual([
    `Answer link for Ana: until ${dateTime(at(60_000))}`,
    `Answer link for Bo: chosen by Cy, until ${dateTime(at(60_000))}`,
    'Answer of Ana: Yes',
  ]);
  expect(timeline.at(3).asked).toEqual([
    { by: 'Ana', assignedBy: undefined, expiresAt: at(60_000) },
    { by: 'Bo', assignedBy: 'Cy', expiresAt: at(60_000) },
  ]);
  expect([timeline.live.asked, timeline.live.answeredBy]).toEqual([[], { 'answer-4': 'Ana' }]);
});
