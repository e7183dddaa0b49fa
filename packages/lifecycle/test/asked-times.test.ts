import { type Command, evolve, type Fact } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import { at, create, endTurn, given, receive, startTurn, step, take, to, wake, wakeAt } from './given.ts';

const immediateWakes = (time: string, count: number): Command => ({
  type: 'set-wake',
  time,
  immediateWakes: count,
});
const due = (time: string): Command => ({ type: 'start-turn', dueBy: time });
const running = [receive('m1'), create, startTurn];
const asleep = [...running, wakeAt(at(50)), endTurn];

describe('turns in a row that ask for one at once', () => {
  it('are counted in the log, and a turn that asks for a later one ends the row', () => {
    const log = given(...running, immediateWakes(at(1), 3));
    expect(log.facts.at(-1)).toMatchObject({ type: 'wake-set', turn: 1, immediateWakes: 3 });
    expect(log.now.immediateWakes).toEqual({ turn: 1, count: 3 });
    const later = given(...running, immediateWakes(at(1), 3), wakeAt(at(50)));
    expect(later.facts.at(-1)).not.toHaveProperty('immediateWakes');
    expect(later.now.immediateWakes).toBeUndefined();
    expect(given(...running, wakeAt()).facts.at(-1)).not.toHaveProperty('time');
  });

  it('go on in the turn that they asked for, and end with a message, a wake from outside, and nothing else', () => {
    const row = [...running, immediateWakes(at(1), 3), endTurn];
    expect(given(...row, due(at(1))).now.immediateWakes).toEqual({ turn: 1, count: 3 });
    expect(given(...row, receive('m2')).now.immediateWakes).toEqual({ turn: 1, count: 3 });
    expect(given(...row, receive('m2'), startTurn).now.immediateWakes).toBeUndefined();
    expect(given(...row, wake).now.immediateWakes).toBeUndefined();
  });
});

describe('the time that a turn asked for', () => {
  it('is kept by a turn that takes its place, for a message or a wake, in all its attempts', () => {
    for (const other of [receive('m2'), wake]) {
      const log = given(...asleep, other, startTurn);
      expect(log.now.wakeAt).toBeUndefined();
      expect(log.now.openTurn).toMatchObject({ number: 2, replacedWake: at(50) });
      const again = given(...asleep, other, startTurn, wakeAt(at(70)), startTurn);
      expect(again.now.openTurn).toMatchObject({ attempt: 2, replacedWake: at(50) });
      expect(again.now.wakeAt).toBe(at(70));
    }
  });

  it('is over in the turn that it was for', () => {
    const log = given(...asleep, due(at(50)));
    expect(log.now.openTurn).toMatchObject({ number: 2, messageIds: [] });
    expect([log.now.openTurn?.replacedWake, log.now.wakeAt]).toEqual([undefined, undefined]);
  });

  it('is none in a turn where nobody asked for one', () => {
    expect(given(...running, endTurn, receive('m2'), startTurn).now.openTurn?.replacedWake).toBeUndefined();
  });
});

describe('a link to a question', () => {
  const link = (id: string, answers?: object) =>
    ({ type: 'open-callback', name: id, id, expiresAt: at(60), ...(answers && { answers }) }) as Command;
  const answers = { by: 'ada', after: 'm1' };
  const asked = [...running, to('INPUT_REQUIRED', 'q1'), endTurn];

  it('is made while the question waits and no turn runs, for the turn that asked', () => {
    const log = given(...asked, link('l', answers));
    expect(log.facts.at(-1)).toMatchObject({ type: 'callback-opened', id: 'l', turn: 1, answers });
    expect(log.now.agent?.callbacks.l).toMatchObject({ turn: 1, answers });
  });

  it('is what else needs a turn that runs', () => {
    expect(given(...asked).refuses(link('c'))).toBe('INVALID_AGENT_RESPONSE');
    expect(given(...asked, receive('m2'), startTurn).when(link('c'))).toMatchObject([{ turn: 2 }]);
  });
});

it('a step that is completed without an open turn is that of the task, or none', () => {
  const { now } = given(...running, step('s', 1), endTurn);
  const completed = (more: object) =>
    evolve(now, { format: 1, at: at(9), type: 'step-completed', turn: 1, name: 't', ...more } as Fact);
  expect(completed({ result: 1 }).openTurn).toBeUndefined();
  expect(completed({ result: 1 }).agent).toBeUndefined();
  expect(completed({ keep: 'task' })).toMatchObject({ openTurn: undefined, agent: { steps: { t: null } } });
});

it('a message is taken later without an open turn', () => {
  const { now } = given(receive('m1'), create);
  const taken = evolve(now, { format: 1, at: at(9), type: 'message-taken', turn: 1, messageId: 'm1' });
  expect([taken.pending, taken.openTurn]).toEqual([[], undefined]);
  expect(taken.taken.map(({ message }) => message.messageId)).toEqual(['m1']);
  const log = given(...running, receive('m2'), take('m2'), receive('m3'), take('m3'));
  expect(log.now.openTurn).toMatchObject({ messageIds: ['m1', 'm2', 'm3'], takenLater: ['m2', 'm3'] });
});
