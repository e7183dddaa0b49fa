import { type Command, decide, evolve, type Fact, nextTurnAt, replay, type State } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import { describe, expect, it } from 'vitest';
import {
  artifact,
  at,
  child,
  create,
  endTurn,
  given,
  keptStep,
  logged,
  openCallback,
  reasonOf,
  receive,
  receiveCallback,
  remember,
  said,
  startTurn,
  step,
  stepsOf,
  to,
  wake,
  wakeAt,
} from './given.ts';

const running = [receive('m1'), create, startTurn];
const asking = [to('INPUT_REQUIRED', 'q1'), endTurn, receive('m2'), startTurn];
const foldedOnto = (state: State, fact: object): State =>
  evolve(state, { format: 1, at: at(99), ...fact } as Fact);

describe('memory', () => {
  it('is nothing for a task that keeps nothing', () => {
    expect(given(...running, to('WORKING'), step('s', 1)).now.agent).toBeUndefined();
  });

  it('keeps values for later turns, replaces them, and forgets some', () => {
    const { now } = given(...running, remember({ a: 1, b: [2], c: null }), ...asking);
    expect(now.agent?.memory).toEqual({ a: 1, b: [2], c: null });
    const later = given(
      ...running,
      remember({ a: 1, b: [2] }),
      ...asking,
      remember({ a: { x: 1 }, b: undefined }),
    );
    expect(later.facts.at(-1)).toMatchObject({ changes: { a: { x: 1 } }, removed: ['b'] });
    expect(later.now.agent?.memory).toEqual({ a: { x: 1 } });
  });

  it('weighs a kept step once, also in a log that has it twice', () => {
    const { facts, now } = given(...running, keptStep('s', 'result'));
    expect(replay([...facts, facts.at(-1)!])?.agent?.memoryBytes).toBe(now.agent?.memoryBytes);
  });

  it('weighs what is in it', () => {
    const weightOf = (...changes: Record<string, unknown>[]) =>
      given(...running, ...changes.map(remember)).now.agent?.memoryBytes;
    expect(weightOf({ a: 'xyz' })).toBe(2 + 5 + 5);
    expect(weightOf({ a: 'xyz' }, { b: 1 })).toBe(12 + 11);
    expect(weightOf({ a: 'xyz' }, { a: 'x' })).toBe(10);
    expect(weightOf({ a: 'xyz', b: 1 }, { a: undefined })).toBe(11);
    expect(weightOf({ a: 'xyz' }, { a: undefined })).toBe(0);
  });

  it('has any name as a key, also those that every object has', () => {
    const names = ['__proto__', 'constructor', 'toString', ''];
    const all = Object.fromEntries(names.map((name) => [name, name]));
    const { now } = given(...running, remember(all));
    expect(Object.entries(now.agent!.memory)).toEqual(names.map((name) => [name, name]));
    expect(Object.getPrototypeOf(now.agent!.memory)).toBe(Object.prototype);
    const less = given(...running, remember(all), remember({ ['__proto__']: undefined }));
    expect(Object.keys(less.now.agent!.memory)).toEqual(names.slice(1));
  });

  it('writes nothing where nothing is to change', () => {
    const log = given(...running, remember({ a: 1 }));
    expect(log.when(remember({}))).toEqual([]);
    expect(log.when(remember({ b: undefined, toString: undefined }))).toEqual([]);
    expect(given(...running).when(remember({ a: undefined }))).toEqual([]);
    expect(log.when(remember({ a: 1 }))).toHaveLength(1);
    expect(log.when(remember({ a: 1 }))[0]).not.toHaveProperty('removed');
  });

  it('may change in the commit of an update, before what closes the log', () => {
    const update = (more: object) => ({ type: 'update', update: { ...more, memory: { a: 1 } } }) as never;
    const types = (command: never) =>
      given(...running)
        .when(command)
        .map(({ type }) => type);
    expect(types(update({ status: { state: 'TASK_STATE_COMPLETED' } }))).toEqual([
      'memory-changed',
      'turn-ended',
      'status-changed',
    ]);
    expect(types(update({ artifact: { artifactId: 'a', parts: [{ text: 'x' }] } }))).toEqual([
      'memory-changed',
      'artifact-updated',
    ]);
    const both = { child: { name: 'c', agent: 'Other' } };
    expect(types(update(both))).toEqual(['memory-changed', 'child-updated']);
    expect(types(update({ ...both, status: { state: 'TASK_STATE_WORKING' } }))).toEqual([
      'memory-changed',
      'child-updated',
      'status-changed',
    ]);
    expect(types(child('c') as never)).toEqual(['child-updated']);
    expect(types(artifact('a') as never)).toEqual(['artifact-updated']);
  });

  it('refuses what JSON cannot say, and a finished task', () => {
    expect(given(...running).refuses(remember({ a: 1n }))).toBe('INVALID_AGENT_RESPONSE');
    expect(given(...running, to('COMPLETED')).refuses(remember({ a: 1 }))).toBe('INVALID_AGENT_RESPONSE');
  });

  it('shares nothing with what the agent gave', () => {
    const list = [1];
    const facts = given(...running).when(remember({ list }));
    list.push(2);
    expect(facts).toMatchObject([{ changes: { list: [1] } }]);
  });
});

describe('what an agent logs', () => {
  it('stands in the log, at the attempt, and is counted', () => {
    const log = given(...running, logged('Looking', { in: 'Rome' }));
    expect(log.facts.at(-1)).toMatchObject({
      type: 'turn-logged',
      turn: 1,
      attempt: 1,
      lines: [{ level: 'info', text: 'Looking', fields: { in: 'Rome' } }],
    });
    const one = weigh({ at: at(0), level: 'info', text: 'Looking' });
    const { now } = given(...running, logged('Looking'), ...asking, logged('Looking'));
    expect(now.agent).toMatchObject({ memory: {}, memoryBytes: 0 });
    expect(now.agent?.logged).toStrictEqual({ lines: 2, bytes: 2 * one });
  });

  it('is of the latest turn where none runs', () => {
    expect(given(...running, endTurn).when(logged('Over'))).toMatchObject([{ turn: 1, attempt: 1 }]);
    expect(given(...running, startTurn).when(logged('Again'))).toMatchObject([{ turn: 1, attempt: 2 }]);
  });

  it('says that no more is kept, from then on', () => {
    const last: Command = { type: 'log', lines: [], full: true };
    expect(given(...running).when(logged('One'))[0]).not.toHaveProperty('full');
    expect(given(...running).when(last)).toMatchObject([{ lines: [], full: true }]);
    const { now } = given(...running, logged('One'), last, logged('Two'));
    expect(now.agent?.logged).toMatchObject({ lines: 2, full: true });
  });

  it('is refused once the task is over', () => {
    expect(given(...running, to('COMPLETED')).refuses(logged('Late'))).toBe('INVALID_AGENT_RESPONSE');
  });
});

describe('a step that the task keeps', () => {
  it('is known to every later turn, and one that the turn keeps is not', () => {
    const { now } = given(...running, keptStep('s', [1]), keptStep('none'), step('t', 2), ...asking);
    expect(now.agent?.steps).toEqual({ s: [1], none: null });
    expect(stepsOf(now)).toEqual({});
    expect(now.agent?.memoryBytes).toBe(2 + 5 + (2 + 5) + (2 + 8 + 4));
  });

  it('has a name that no other step of the task has', () => {
    expect(given(...running, keptStep('s', 1), ...asking).refuses(step('s', 2))).toBe(
      'INVALID_AGENT_RESPONSE',
    );
    expect(given(...running, keptStep('s', 1)).refuses(keptStep('s', 2))).toBe('INVALID_AGENT_RESPONSE');
    expect(given(...running, step('s', 1)).refuses(keptStep('s', 2))).toBe('INVALID_AGENT_RESPONSE');
    expect(given(...running, step('s', 1), ...asking).when(keptStep('s', 2))).toHaveLength(1);
    expect(given(...running, keptStep('a', 1)).when(step('toString', 2))).toHaveLength(1);
  });

  it('says so in its fact, and others do not', () => {
    expect(given(...running).when(keptStep('s', 1))[0]).toMatchObject({ keep: 'task', turn: 1 });
    expect(given(...running).when(step('s', 1))[0]).not.toHaveProperty('keep');
  });
});

describe('a question that is reserved', () => {
  const link: Command = {
    type: 'open-callback',
    name: 'answer',
    id: 'ana',
    expiresAt: at(60),
    answers: { by: 'Ana', after: 'm1' },
  };
  const asked: Command = {
    type: 'update',
    update: { ...(to('INPUT_REQUIRED', 'q1') as Command & { type: 'update' }).update, onlyBy: 'link' },
  };
  const reserved = [...running, link, asked, endTurn];
  const byAna = { ...receive('answer-ana'), caller: { answeredBy: 'Ana' } } as Command;
  const late: Fact = { format: 1, at: at(9), type: 'message-received', message: said('m2') };

  it('takes no message of a client, and one of the person with the link', () => {
    const { now, refuses } = given(...reserved);
    expect(refuses(receive('m2'))).toBe('UNSUPPORTED_OPERATION');
    expect(refuses(receive('answer-bo'))).toBe('UNSUPPORTED_OPERATION');
    // A client that has a link knows its id.
    expect(refuses(receive('answer-ana'))).toBe('UNSUPPORTED_OPERATION');
    expect(refuses({ ...byAna, caller: { answeredBy: 'Bo' } } as Command)).toBe('UNSUPPORTED_OPERATION');
    expect(nextTurnAt(now)).toBeUndefined();
    expect(nextTurnAt(given(...reserved, byAna).now)).toBe('');
  });

  it('is not answered by a message that came at the same moment, or before', () => {
    const raced = foldedOnto(given(...reserved).now, late);
    expect(nextTurnAt(raced)).toBeUndefined();
    expect(() => decide(raced, startTurn, at(10))).toThrow('nothing to start');
    const before = given(...running, link, receive('m2'), asked, endTurn).now;
    expect(nextTurnAt(before)).toBeUndefined();
    const forged = { ...late, message: said('answer-ana') } as Fact;
    expect(nextTurnAt(evolve(raced, forged))).toBeUndefined();
    const answered = evolve(raced, { ...forged, caller: { answeredBy: 'Ana' } } as Fact);
    expect(decide(answered, startTurn, at(10))[0]).toMatchObject({ messageIds: ['m2', 'answer-ana'] });
  });

  it('is one until the task goes on, and a later question is open again', () => {
    const on = given(...reserved, byAna, startTurn);
    expect(on.when(receive('m2'))).toHaveLength(1);
    const again = given(...reserved, byAna, startTurn, to('INPUT_REQUIRED', 'q2'), endTurn);
    expect(again.when(receive('m2'))).toHaveLength(1);
    expect(again.now.question).toBeUndefined();
  });

  it('for some people takes no answer of another one who has a link', () => {
    const forBo = {
      ...asked,
      update: { ...(asked as Command & { type: 'update' }).update, onlyBy: ['Bo'] },
    } as Command;
    const { now, refuses } = given(...running, link, forBo, endTurn);
    expect(refuses(byAna)).toBe('UNSUPPORTED_OPERATION');
    const raced = { ...late, message: said('answer-ana'), caller: { answeredBy: 'Ana' } } as Fact;
    expect(nextTurnAt(foldedOnto(now, raced))).toBeUndefined();
  });
});

describe('a callback', () => {
  const open = [...running, openCallback('b', at(60))];
  const sleeping = [...open, to('AUTH_REQUIRED'), endTurn];

  it('waits for a value, which starts the next turn', () => {
    expect(given(...open).now.agent?.callbacks).toMatchObject({
      b: { name: 'of b', turn: 1, expiresAt: at(60) },
    });
    const { now, facts } = given(...sleeping, receiveCallback('b', { paid: true }));
    expect(facts.at(-1)).toMatchObject({ type: 'callback-received', id: 'b', name: 'of b' });
    expect(now.agent?.callbacks.b).toMatchObject({ value: { paid: true }, receivedAt: at(6) });
    expect(now.woken).toEqual({});
    expect(given(...sleeping, receiveCallback('b', 1), startTurn).now).toMatchObject({
      openTurn: { number: 2, messageIds: [] },
      agent: { callbacks: { b: { value: 1 } } },
    });
  });

  it('has the value null if none was sent', () => {
    expect(given(...open, receiveCallback('b', undefined)).now.agent?.callbacks.b?.value).toBeNull();
  });

  it('takes one value, in time, of a task that is not finished', () => {
    const saying = (log: ReturnType<typeof given>, clock?: string) => [
      reasonOf(() => log.when(receiveCallback('b', 2), clock)),
      messageOf(() => log.when(receiveCallback('b', 2), clock)),
    ];
    expect(saying(given(...running))).toEqual(['TASK_NOT_FOUND', 'There is no such callback']);
    expect(saying(given(...running, openCallback('c', at(60))))[0]).toBe('TASK_NOT_FOUND');
    expect(saying(given(...open, receiveCallback('b', 1)))).toEqual([
      'MESSAGE_ID_CONFLICT',
      'The callback was used already',
    ]);
    expect(saying(given(...open), at(60))).toEqual(['UNSUPPORTED_OPERATION', 'The callback has expired']);
    expect(given(...open).when(receiveCallback('b', 2), at(59))).toHaveLength(1);
    expect(saying(given(...open, to('COMPLETED')))).toEqual([
      'UNSUPPORTED_OPERATION',
      'The task is finished',
    ]);
  });

  it('has an id of its own', () => {
    expect(given(...open).refuses(openCallback('b', at(70)))).toBe('INVALID_AGENT_RESPONSE');
    expect(() => given(...open).when(openCallback('b', at(70)))).toThrow(
      'There is a callback with the id "b" already',
    );
  });

  it('counts the first of two values that were appended at once, and ignores one that nobody asked for', () => {
    const received = given(...open, receiveCallback('b', 1)).now;
    const value = { type: 'callback-received', id: 'b', name: 'of b', value: 2 };
    expect(foldedOnto(received, value).agent).toEqual(received.agent);
    expect(foldedOnto(received, { ...value, id: 'c' }).agent).toEqual(received.agent);
    expect(foldedOnto(given(...running).now, value).agent).toBeUndefined();
  });

  it('keeps the metadata of a wake, and ends a row of turns that asked to be woken at once', () => {
    const woken = given(...sleeping, { type: 'wake', metadata: { why: 1 } }, receiveCallback('b', 1));
    expect(woken.now.woken).toEqual({ metadata: { why: 1 } });
    const immediateWakes = given(
      ...open,
      { ...wakeAt(at(1)), immediateWakes: 2 } as never,
      endTurn,
      receiveCallback('b', 1),
    );
    expect(immediateWakes.now.immediateWakes).toBeUndefined();
    expect(given(...open, wake, receiveCallback('b', 1)).now.woken).toEqual({});
  });
});

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}
