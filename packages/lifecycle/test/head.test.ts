import { type Head, headOf, type Snapshot, toSnapshot, viewTask } from '@batonjs/lifecycle';
import { agrees, weigh } from '@batonjs/lifecycle/internals';
import { describe, expect, it } from 'vitest';
import {
  answer,
  artifact,
  at,
  cancel,
  create,
  endTurn,
  given,
  receive,
  startTurn,
  step,
  stored,
  to,
} from './given.ts';

const working = [receive('m1'), create, startTurn, to('WORKING', 'w1'), artifact('a1')];

describe('the head', () => {
  it.each([
    ['a message', [receive('m1')], { statusAt: at(0), statusVersion: 1, generation: 0, turn: 0, attempt: 0 }],
    [
      'a task',
      working.slice(0, 2),
      { state: 'TASK_STATE_SUBMITTED', statusAt: at(1), statusVersion: 2, generation: 1 },
    ],
    [
      'work',
      working,
      { state: 'TASK_STATE_WORKING', statusAt: at(3), statusVersion: 4, generation: 3, turn: 1, attempt: 1 },
    ],
    ['another attempt', [...working, startTurn], { turn: 1, attempt: 2, statusVersion: 4 }],
    ['cancellation', [...working, cancel], { version: 6, statusVersion: 4, generation: 3, closed: false }],
    ['the end', [...working, to('FAILED')], { closed: true, statusAt: at(5), statusVersion: 7, version: 7 }],
    [
      'an answer',
      [receive('m1'), startTurn, answer('r1')],
      { closed: true, statusAt: at(2), statusVersion: 4 },
    ],
  ] as const)('after %s', (_, commands, expected) => {
    const { head, now } = given(...commands);
    expect(head).toMatchObject(expected);
    expect(head).toMatchObject({ version: now.version, contextId: 'context' });
    expect(agrees(head!, now)).toBe(true);
  });

  it('has no state before there is a task, nor when there never will be one', () => {
    expect(given(receive('m1')).head).not.toHaveProperty('state');
    expect(given(receive('m1'), startTurn, answer('r1')).head).not.toHaveProperty('state');
  });

  it('points at the fact that its status is in', () => {
    const { facts, head, now } = given(...working);
    expect(facts[head!.statusVersion - 1]).toMatchObject({ status: viewTask(now).status });
  });

  it('keeps its clock until the log closes, for nothing is due afterwards', () => {
    const { facts, head } = given(...working, artifact('a2'), endTurn);
    const due: Head = { ...head!, dueAt: at(99) };
    expect(facts.slice(1).reduce(headOf, due).dueAt).toBe(at(99));
    const [, failed] = given(...working).when(to('FAILED'));
    expect(headOf(due, failed!).dueAt).toBeUndefined();
    const [, answered] = given(receive('m1'), startTurn).when(answer('r1'));
    expect(headOf(due, answered!).dueAt).toBeUndefined();
  });

  it('stays small, however much there is', () => {
    const much = artifact('a1', ['x'.repeat(100_000)]);
    const { head } = given(...working, much, to('WORKING', 'y'.repeat(100_000)));
    expect(JSON.stringify(head).length).toBeLessThan(400);
  });

  it.each([
    ['version', 1],
    ['state', 'TASK_STATE_SUBMITTED'],
    ['closed', true],
    ['contextId', 'elsewhere'],
    ['generation', 1],
    ['turn', 0],
    ['attempt', 2],
    ['statusAt', at(0)],
    ['statusVersion', 3],
  ] as const)('does not agree with the state when its %s is another one', (member, value) => {
    const { head, now } = given(...working);
    expect(agrees(head!, now)).toBe(true);
    expect(agrees({ ...head!, [member]: value }, now)).toBe(false);
  });

  it('does not agree with an answered log when it says that was at another time', () => {
    const { head, now } = given(receive('m1'), startTurn, answer('r1'));
    expect(agrees({ ...head!, statusAt: at(0) }, now)).toBe(false);
    expect(agrees({ ...head!, dueAt: at(0) }, now)).toBe(true);
  });
});

describe('the weight of a log', () => {
  const long = 'x'.repeat(5_000);

  it('is what its facts weigh together, and survives a snapshot', () => {
    const { facts, now } = given(...working, step('s1', { long: 'x'.repeat(500) }), to('COMPLETED'));
    expect(now.weight).toBe(facts.reduce((sum, fact) => sum + weigh(fact), 0));
    expect((stored(toSnapshot(now)) as Snapshot).state.weight).toBe(now.weight);
  });

  it.each([
    ['a text', artifact('a1', [long])],
    [
      'many short texts',
      artifact(
        'a1',
        Array.from({ length: 200 }, () => 'x'),
      ),
    ],
    ['a file', { type: 'update', update: { artifact: { artifactId: 'a1', parts: [{ raw: long }] } } }],
    [
      'data',
      { type: 'update', update: { artifact: { artifactId: 'a1', parts: [{ data: [{ a: long }] }] } } },
    ],
    ['metadata of an event', artifact('a1', ['x'], { metadata: { [long]: true } })],
    ['a status without a message', to('WORKING')],
    ['a status with a message', to('WORKING', long)],
    ['a result', step('s1', [long, null, 1, true, {}])],
    ['a message', receive('m2', { parts: [{ text: long }] })],
    ['metadata of a message', receive('m2', { metadata: { a: [long] } })],
    ['a turn', endTurn],
  ] as const)('is about the length of the written fact: %s', (_, command) => {
    const [fact] = given(receive('m1'), create, startTurn).when(command as never);
    const written = JSON.stringify(fact).length;
    expect(weigh(fact!) / written).toBeGreaterThan(0.9);
    expect(weigh(fact!) / written).toBeLessThan(1.1);
  });
});
