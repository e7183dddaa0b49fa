import type { Fact } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import type { Call, ModelCall } from '../../src/api/model-calls.ts';
import type { Entry } from '../../src/api/timeline.ts';
import { callText, money, tokenWords, totalsOf } from '../../src/app/models/totals.ts';
import { spansOf } from '../../src/app/timeline/spans.ts';
import { Timeline } from '../../src/app/timeline/timeline.ts';

const model: ModelCall = { kind: 'model', provider: 'p', modelId: 'small', ms: 2_000 };
const tool: Call = { kind: 'tool', name: 'look', ms: 500 };

const iso = (second: number) => new Date(Date.UTC(2026, 10, 26, 12, 0, second)).toISOString();

/** A fact, what its step called, and when it was if not a second after the one before. */
interface Happened {
  readonly type: string;
  readonly call?: Call;
  readonly second?: number;
  readonly [member: string]: unknown;
}

/** A timeline of these facts, one each second, with what steps called. */
function timelineOf(...facts: readonly Happened[]) {
  const timeline = new Timeline();
  timeline.add(
    facts.map(({ call, second, ...fact }, index): Entry => {
      const at = iso(second ?? index);
      return { seq: index + 1, at, fact: { format: 1, at, ...fact } as Fact, ...(call && { call }) };
    }),
  );
  return timeline;
}

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Oulu?' }] };
const received = { type: 'message-received', message };
const created = { type: 'task-created', taskId: 't', contextId: 'c' };
const started = (attempt = 1, turn = 1) => ({ type: 'turn-started', turn, attempt, messageIds: [] });
const step = (call: Call) => ({ type: 'step-completed', turn: 1, name: 'x', result: {}, call });
const failedTurn = { type: 'turn-failed', turn: 1, attempt: 1, message: 'Broken' };
const failedStep = { type: 'step-failed', turn: 1, name: 'x', attempt: 1, message: 'Broken' };
const ended = { type: 'turn-ended', turn: 1 };

describe('the calls of a task', () => {
  it('are summed, failed tries too, and a cost only where there is one', () => {
    const { called } = timelineOf(
      received,
      created,
      started(),
      step({ ...model, usage: { input: 100, output: 10, cachedInput: 40, reasoning: 4 }, cost: 0.5 }),
      step({ ...tool, isFailed: true }),
      step(tool),
      step({
        ...model,
        usage: { input: 1_000, output: 20 },
        failed: [
          { ms: 1, usage: { input: 7, output: 0 }, cost: 0.25 },
          { ms: 1, status: 503 },
        ],
      }),
      step(model),
    ).live;
    expect(totalsOf(called)).toStrictEqual({
      models: 3,
      tools: 2,
      failedTries: 2,
      failedTools: 1,
      reused: 0,
      input: 1_107,
      cachedInput: 40,
      output: 30,
      reasoning: 4,
      cost: 0.75,
      withoutCost: 1,
      withoutTokens: 1,
    });
    expect(totalsOf([])).not.toHaveProperty('cost');
  });

  it('grow with the task, and are as they were at an earlier entry', () => {
    const timeline = timelineOf(received, created, started(), step(model), step(tool), ended);
    expect(timeline.live.called.map(({ seq, call }) => [seq, call.kind])).toEqual([
      [4, 'model'],
      [5, 'tool'],
    ]);
    expect(timeline.at(4).called).toHaveLength(1);
    expect(timeline.at(3).called).toEqual([]);
    const copy = timeline.live.copy();
    timeline.add([
      { seq: 7, at: iso(7), fact: { format: 1, at: iso(7), ...step(model) } as never, call: model },
    ]);
    expect([copy.called.length, timeline.live.called.length]).toEqual([2, 3]);
  });

  it('of a fork are its own from its beginning on', () => {
    const forked = { ...received, forked: { taskId: 'o', position: 6 } };
    const timeline = timelineOf(
      { ...forked, second: 0 },
      { ...created, second: 0 },
      { ...started(), second: 0 },
      { ...step({ ...model, usage: { input: 5, output: 5 }, cost: 1 }), second: 0 },
      { type: 'turn-paused', turn: 1, until: iso(0), second: 0 },
      { ...started(2), second: 9 },
      { ...step({ ...model, usage: { input: 3, output: 1 } }), second: 12 },
    );
    expect(totalsOf(timeline.live.called)).toMatchObject({ models: 1, input: 3, output: 1, reused: 1 });
    expect(totalsOf(timeline.live.copy().called)).toMatchObject({ reused: 1 });
    expect(timeline.live.lost).toBe(0);
    expect(spansOf(timeline.rows).filter(({ kind }) => kind === 'model')).toHaveLength(1);
    const other = timelineOf(received, created, started(), { ...step(model), second: 0 });
    expect(totalsOf(other.live.called)).toMatchObject({ models: 1, reused: 0 });
  });

  it.each<[string, number, Happened[]]>([
    ['none', 0, [started(), step(model), ended, started(1, 2)]],
    ['one that was cut off', 1, [started(), started(2), step(model), ended]],
    ['one that failed', 1, [started(), failedTurn, started(2), ended]],
    ['one that failed with its step', 1, [started(), failedStep, failedTurn, started(2), ended]],
    [
      'none where a step is tried again',
      0,
      [started(), { ...failedStep, retryAt: iso(9) }, step(tool), ended],
    ],
    [
      'none that was paused',
      0,
      [started(), { type: 'turn-paused', turn: 1, until: iso(9) }, started(2), ended],
    ],
    ['two', 2, [started(), started(2), failedTurn, started(3), ended]],
    ['one of each turn', 2, [started(), failedStep, ended, started(1, 2), failedStep]],
  ])('are not all known after attempts that were lost: %s', (_, lost, facts) => {
    const timeline = timelineOf(received, created, ...facts);
    expect([timeline.live.lost, timeline.live.copy().lost]).toEqual([lost, lost]);
    expect(timeline.at(3).lost).toBe(0);
  });

  it('are bars that begin where they began', () => {
    const rows = timelineOf(
      received,
      created,
      started(),
      { ...step(model), second: 10 },
      { ...step({ ...tool, isFailed: true }), second: 11 },
    ).rows;
    const bars = spansOf(rows).filter(({ call }) => call);
    expect(
      bars.map(({ kind, name, from, until, isFailed, row }) => [kind, name, until! - from, isFailed, row]),
    ).toEqual([
      ['model', 'small', 2_000, undefined, 3],
      ['tool', 'look', 500, true, 4],
    ]);
    expect(bars[0]!.until).toBe(Date.parse(iso(10)));
  });

  it('are described in their rows', () => {
    const rows = timelineOf(
      received,
      created,
      started(),
      step({ ...model, usage: { input: 1_204, output: 56 } }),
      step({ ...tool, isFailed: true }),
    ).rows;
    expect(rows.slice(3).map(({ described: { label, text, tone } }) => [label, text, tone])).toEqual([
      ['Model small', '1,204 in · 56 out · 2.00 s', 'turn'],
      ['Tool look', '500 ms · failed', 'lost'],
    ]);
  });
});

describe('words', () => {
  it.each([
    [{ input: 1_204, output: 56 }, '1,204 in · 56 out'],
    [{ input: 10, output: 5, cachedInput: 4, reasoning: 3 }, '10 in (4 cached) · 5 out (3 reasoning)'],
    [{ input: 10, output: 5, cachedInput: 0, reasoning: 0 }, '10 in · 5 out'],
    [{ output: 5 }, '5 out'],
    [{}, ''],
  ])('of the tokens %j', (usage, words) => expect(tokenWords(usage)).toBe(words));

  it.each([
    [0, 'USD', '$0.00'],
    [1_234.5, 'USD', '$1,234.50'],
    [0.1, 'USD', '$0.10'],
    [0.0456, 'USD', '$0.046'],
    [0.09, 'USD', '$0.09'],
    [0.000_123_4, 'USD', '$0.00012'],
    [2, 'JPY', '¥2'],
    [2, 'XXA', 'XXA 2.00'],
    [2, undefined, undefined],
    [undefined, 'USD', undefined],
  ])('of the money %d %s', (cost, currency, words) => {
    expect(money(cost, currency)?.replaceAll(/\s/g, ' ')).toBe(words);
  });

  it.each<[Partial<ModelCall>, string]>([
    [{}, '2.00 s'],
    [{ finishReason: 'stop' }, '2.00 s'],
    [{ finishReason: 'length' }, '2.00 s · length'],
    [{ firstMs: 1_250 }, '2.00 s · first words after 1.25 s'],
    [{ responseModelId: 'small-2' }, '2.00 s · answered by small-2'],
    [{ failed: [{ ms: 1 }] }, '2.00 s · after 1 failed try'],
    [
      {
        failed: [
          { ms: 1, status: 503 },
          { ms: 1, status: 429 },
          { ms: 1, status: 503 },
        ],
      },
      '2.00 s · after 3 failed tries (503, 429)',
    ],
  ])('of a call with %j', (more, text) => expect(callText({ ...model, ...more })).toBe(text));
});
