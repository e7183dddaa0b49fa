import {
  type Command,
  type Fact,
  headOf,
  isInterrupted,
  isTerminal,
  nextTurnAt,
  replay,
  viewTask,
} from '@batonjs/lifecycle';
import { agrees, forkLog } from '@batonjs/lifecycle/internals';
import { A2AError } from '@batonjs/protocol/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  artifact,
  at,
  cancel,
  child,
  create,
  endTurn,
  failTurn,
  given,
  logged,
  openCallback,
  receive,
  receiveCallback,
  startTurn,
  step,
  stepsOf,
  stored,
  take,
  text,
  to,
  wakeAt,
} from './given.ts';
import { randomLog } from './random-log.ts';

const now = at(3_600);
const fork = { taskId: 'fork', at: now, messageId: 'f1' };

const closes = (fact: Fact): boolean =>
  fact.type === 'answered' || (fact.type === 'status-changed' && isTerminal(fact.status.state));

describe('the fork of any log, from any position', () => {
  it('has the state that the origin had there, with a head that agrees, or is refused for a reason', () => {
    let forks = 0;
    fc.assert(
      fc.property(randomLog, fc.boolean(), (moments, says) => {
        const facts = stored(moments.at(-1)!.facts);
        const untouched = stored(facts);
        for (let position = 1; position <= facts.length; position++) {
          const parts = says ? [{ text: 'and more' }] : undefined;
          // The end of a turn that ended its task is left out.
          const [last, next] = facts.slice(position - 1, position + 1);
          const isLast = last?.type === 'turn-ended' && next !== undefined && closes(next);
          const before = replay(facts.slice(0, isLast ? position - 1 : position))!;
          try {
            const { facts: forked, state } = forkLog('task', facts, { ...fork, from: { position }, parts });
            forks++;
            const head = forked.reduce<ReturnType<typeof headOf> | undefined>(headOf, undefined)!;
            expect(stored(forked)).toEqual(forked);
            expect(agrees(head, replay(stored(forked))!)).toBe(true);
            expect(agrees(head, state)).toBe(true);
            expect(state.closed).toBe(false);
            expect(state.cancelRequested).toBeUndefined();
            expect(new Set(forked.map((fact) => fact.at))).toEqual(new Set([now]));
            expect(stepsOf(state)).toEqual(stepsOf(before));
            expect([state.agent?.memory ?? {}, state.agent?.steps ?? {}]).toEqual([
              before.agent?.memory ?? {},
              before.agent?.steps ?? {},
            ]);
            expect(state.task!.artifacts.map(({ about }) => about.artifactId)).toEqual(
              (before.task?.artifacts ?? []).map(({ about }) => about.artifactId),
            );
            expect(state.labels).toEqual(before.labels);
            const asked = isInterrupted(state.task!.status.state);
            expect(nextTurnAt(state) !== undefined || asked).toBe(true);
          } catch (error) {
            if (!A2AError.is(error, 'INVALID_PARAMS')) throw error;
            const hasEnded = facts.slice(0, position).some(closes);
            const isIdle =
              nextTurnAt(before) === undefined &&
              before.openTurn === undefined &&
              !isInterrupted(before.task?.status.state ?? 'TASK_STATE_SUBMITTED');
            expect(hasEnded || (isIdle && !says)).toBe(true);
          }
        }
        expect(facts).toEqual(untouched);
      }),
      { numRuns: 150 },
    );
    expect(forks).toBeGreaterThan(500);
  });
});

describe('a fork', () => {
  const { facts } = given(
    { ...receive('m1'), labels: ['eu'], priority: 3 } as Command,
    create,
    startTurn,
    child('done', { taskId: 'c1', state: 'TASK_STATE_COMPLETED' }),
    child('busy', { taskId: 'c2', state: 'TASK_STATE_WORKING' }),
    openCallback('came', at(9_000)),
    openCallback('never', at(9_000)),
    receiveCallback('came', 1),
    artifact('a1', ['one'], {}),
    artifact('a1', ['two'], { append: true }),
    step('pay', 7),
    logged('Paid'),
    step('secret', 8),
    failTurn(at(1)),
    startTurn,
    cancel,
    to('INPUT_REQUIRED', 'w1'),
    endTurn,
    receive('m2'),
    startTurn,
  );
  const make = (more: object = {}) =>
    forkLog('task', facts, { ...fork, from: { position: facts.length }, ...more } as Parameters<
      typeof forkLog
    >[2]);

  it('takes over what ended, and leaves failures, a cancel and what is under way to its origin', () => {
    const { state, facts: forked } = make({ from: { step: 'secret' }, forgotten: ['secret'] });
    expect(Object.keys(state.children ?? {})).toEqual(['done']);
    expect(Object.keys(state.agent!.callbacks)).toEqual(['came']);
    expect(state.openTurn).toMatchObject({ number: 1, attempt: 1, pausedUntil: now });
    expect(stepsOf(state)).toEqual({ pay: 7 });
    expect(state.openTurn?.failures).toBeUndefined();
    expect(viewTask(state).artifacts).toEqual([{ artifactId: 'a1', parts: [text('one'), text('two')] }]);
    expect(forked.map(({ type }) => type)).not.toContain('turn-failed');
    expect(forked.map(({ type }) => type)).not.toContain('turn-logged');
    expect(forked.filter(({ type }) => type === 'artifact-updated')).toMatchObject([
      { append: false, lastChunk: true },
    ]);
  });

  it('has another result of the step that ended at its point, and refuses one where none did', () => {
    for (const result of [null, { paid: 8 }])
      expect(stepsOf(make({ from: { step: 'pay' }, result }).state)).toEqual({ pay: result });
    for (const from of ['start', { position: facts.length }])
      expect(() => make({ from, result: 8 })).toThrow(expect.objectContaining({ reason: 'INVALID_PARAMS' }));
  });

  it('takes over which messages a turn took later, and when the next one starts', () => {
    const log = given(receive('m1'), create, startTurn, receive('m2'), take('m2'), wakeAt(at(50)), endTurn);
    const { facts: forked } = forkLog('task', log.facts, { ...fork, from: { position: log.facts.length } });
    expect(forked.map(({ type }) => type)).toEqual(log.facts.map(({ type }) => type));
  });

  it('has each turn once, however often it was begun again', () => {
    const started = make().facts.filter(({ type }) => type === 'turn-started');
    expect(started).toMatchObject([1, 2].map((turn) => ({ turn, attempt: 1 })));
  });

  it('has the latest word on each child, and forgets steps of the turn that is open alone', () => {
    const ended = (turn: number) => child('c', { taskId: `c${turn}`, state: 'TASK_STATE_COMPLETED' });
    const log = given(
      receive('m1'),
      create,
      startTurn,
      ended(1),
      step('pay', 1),
      to('INPUT_REQUIRED', 'w1'),
      endTurn,
      receive('m2'),
      startTurn,
      ended(2),
      step('pay', 2),
    ).facts;
    const all = { ...fork, from: { position: log.length }, forgotten: ['pay'] };
    const { facts: forked, state } = forkLog('task', log, all);
    expect(forked.filter(({ type }) => type === 'child-updated')).toMatchObject([
      { child: { taskId: 'c2' } },
    ]);
    expect(forked.filter(({ type }) => type === 'step-completed')).toMatchObject([{ turn: 1, result: 1 }]);
    expect(stepsOf(state)).toEqual({});
    expect(state.task?.status.timestamp).toBe(now);
  });

  it('of a fork names both, the first one first, and nothing else that was of one request', () => {
    const first = { ...receive('m1'), traceparent: '00-a-b-01', notBefore: at(9), ifGeneration: 1 };
    const once = forkLog('task', given(first as Command, create).facts, { ...fork, from: 'start' }).facts;
    const [again] = forkLog('fork', once, { ...fork, taskId: 'again', from: 'start' }).facts;
    expect(again).toMatchObject({ message: { referenceTaskIds: ['task', 'fork'], taskId: 'again' } });
    expect((again as { forked?: object }).forked).toStrictEqual({ taskId: 'fork', position: 1 });
    for (const name of ['traceparent', 'notBefore', 'ifGeneration', 'labels'])
      expect(once[0]).not.toHaveProperty(name);
    for (const headless of [[], given(receive('m1'), create).facts.slice(1)])
      expect(() => forkLog('task', headless, { ...fork, from: 'start' })).toThrow(
        'A log begins with a message',
      );
  });

  it('names its origin, in its first message and for those who run it', () => {
    const [first] = make({ by: 'ada' }).facts;
    expect(first).toMatchObject({
      forked: { taskId: 'task', position: facts.length, by: 'ada' },
      message: { referenceTaskIds: ['task'], taskId: 'fork', contextId: 'context' },
      priority: 3,
      labels: ['eu'],
    });
    expect(make({ labels: ['us', 'us'] }).state.labels).toEqual(['us']);
    expect(make({ labels: [] }).state.labels).toBeUndefined();
  });

  it('from the start has the first message only, or says something else in its place', () => {
    const again = make({ from: 'start' }).state;
    expect(again.pending.map(({ message }) => [message.messageId, message.parts])).toEqual([
      ['m1', [text('m1')]],
    ]);
    expect([again.turns, again.task?.status.state]).toEqual([0, 'TASK_STATE_SUBMITTED']);
    const other = make({ from: 'start', parts: [text('other')] }).state;
    expect(other.pending.map(({ message }) => [message.messageId, message.parts])).toEqual([
      ['f1', [text('other')]],
    ]);
  });

  it('at a question waits for its answer, or begins with one', () => {
    const asked = given(receive('m1'), create, startTurn, cancel, to('INPUT_REQUIRED', 'w1'), endTurn).facts;
    const at = (parts?: [ReturnType<typeof text>]) =>
      forkLog('task', asked, { ...fork, from: { position: asked.length }, parts });
    const waiting = at().state;
    expect([waiting.task?.status.state, nextTurnAt(waiting)]).toEqual([
      'TASK_STATE_INPUT_REQUIRED',
      undefined,
    ]);
    expect(waiting.task?.status.message).toMatchObject({ messageId: 'w1', taskId: 'fork' });
    const answered = at([text('yes')]).state;
    expect([answered.pending[0]?.message.messageId, nextTurnAt(answered)]).toEqual(['f1', '']);
  });

  it('at a question for a link goes on with the answer of a person alone', () => {
    const asked = to('INPUT_REQUIRED', 'w1') as Extract<Command, { type: 'update' }>;
    const link = { ...openCallback('ana', at(60)), answers: { by: 'Ana', after: 'm1' } } as Command;
    const update = { ...asked.update, onlyBy: ['Ana'] } as typeof asked.update;
    const begun = [receive('m1'), create, startTurn, link, { ...asked, update }, endTurn];
    const byAna = { ...receive('answer-ana'), caller: { answeredBy: 'Ana' } } as Command;
    for (const [commands, parts, next] of [
      [begun, undefined, undefined],
      [begun, [text('yes')], undefined],
      [[...begun, byAna], undefined, ''],
    ] as const) {
      const { facts: log } = given(...commands);
      const { state } = forkLog('task', log, { ...fork, from: { position: log.length }, parts });
      expect(nextTurnAt(state)).toBe(next);
    }
  });

  it('goes back before the end of a turn that ended its task, and cannot begin after the end', () => {
    const ended = given(receive('m1'), create, startTurn, step('pay', 7), to('COMPLETED')).facts;
    const at = (position: number) => forkLog('task', ended, { ...fork, from: { position } });
    expect(ended.map(({ type }) => type).slice(-2)).toEqual(['turn-ended', 'status-changed']);
    expect(stepsOf(at(ended.length - 1).state)).toEqual({ pay: 7 });
    expect(() => at(ended.length)).toThrow('the task has ended at position 6');
  });

  it('is from positions and steps that the log has', () => {
    expect(() => make({ from: { step: 'none' } })).toThrow('the task has completed no step "none"');
    for (const position of [0, facts.length + 1, 1.5, Number.NaN])
      expect(() => make({ from: { position } })).toThrow(`a whole number from 1 to ${facts.length}`);
    const idle = given(receive('m1'), create, startTurn, endTurn).facts;
    expect(() => forkLog('task', idle, { ...fork, from: { position: 4 } })).toThrow(
      'nothing is left to do at position 4: give a message too',
    );
    const fieldViolations = [expect.objectContaining({ field: 'from' })];
    const details = [expect.objectContaining({ fieldViolations })];
    for (const position of [0, 4])
      expect(() => forkLog('task', idle, { ...fork, from: { position } })).toThrow(
        expect.objectContaining({ details }),
      );
  });
});
