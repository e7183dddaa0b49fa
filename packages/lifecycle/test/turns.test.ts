import {
  type Command,
  decide,
  evolve,
  type Fact,
  fromSnapshot,
  nextTurnAt,
  replay,
  type State,
  stepOf,
  toSnapshot,
  viewTask,
} from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import {
  answer,
  artifact,
  at,
  cancel,
  child,
  create,
  endTurn,
  given,
  postpone,
  reasonOf,
  receive,
  startTurn,
  step,
  stepsOf,
  stored,
  take,
  to,
  wake,
  wakeAt,
} from './given.ts';

describe('a turn', () => {
  it('takes every message that waits, oldest first', () => {
    const started = given(receive('m1'), create, receive('m2'), receive('m3'), startTurn);
    expect(started.facts.at(-1)).toMatchObject({ turn: 1, attempt: 1, messageIds: ['m1', 'm2', 'm3'] });
    expect(started.now.pending).toEqual([]);
    expect(started.now.taken.map(({ message }) => message.messageId)).toEqual(['m1', 'm2', 'm3']);
  });

  it('that starts on an interrupted task puts it to work, in the same commit', () => {
    for (const state of ['INPUT_REQUIRED', 'AUTH_REQUIRED']) {
      const facts = given(receive('m1'), create, startTurn, to(state, 'q1'), endTurn, receive('m2')).when(
        startTurn,
      );
      expect(facts).toMatchObject([
        { type: 'turn-started', turn: 2, attempt: 1, messageIds: ['m2'] },
        { type: 'status-changed', status: { state: 'TASK_STATE_WORKING', timestamp: at(6) } },
      ]);
    }
  });

  it('is not started for nothing', () => {
    const idle = given(receive('m1'), create, startTurn, to('INPUT_REQUIRED'), endTurn);
    expect(idle.refuses(startTurn)).toBe('INTERNAL_ERROR');
  });

  it('starts without a message when the task was woken [R-STATE-15]', () => {
    const waiting = [receive('m1'), create, startTurn, to('AUTH_REQUIRED', 'q1'), endTurn];
    const woken = given(...waiting, { type: 'wake', metadata: { token: 'there' } });
    expect(woken.now.woken).toEqual({ metadata: { token: 'there' } });
    const started = given(...waiting, wake, startTurn);
    expect(started.now.openTurn).toMatchObject({ number: 2, attempt: 1, messageIds: [] });
    expect(started.now.woken).toBeUndefined();
    expect(started.now.taken.map(({ message }) => message.messageId)).toEqual(['m1']);
  });

  it('takes no message before its time, and starts for none', () => {
    const waiting = given(postpone('m1', at(60)), create);
    expect(nextTurnAt(waiting.now)).toBe(at(60));
    expect(reasonOf(() => waiting.when(startTurn, at(59)))).toBe('INTERNAL_ERROR');
    expect(waiting.when(startTurn, at(60))).toMatchObject([{ turn: 1, messageIds: ['m1'] }]);
    expect(waiting.when({ type: 'start-turn', dueBy: at(60) }, at(59))).toMatchObject([
      { turn: 1, messageIds: ['m1'], at: at(59) },
    ]);
    const both = given(postpone('m1', at(60)), create, receive('m2'));
    expect(nextTurnAt(both.now)).toBe('');
    expect(both.when(startTurn)).toMatchObject([{ messageIds: ['m2'] }]);
    const running = given(postpone('m1', at(60)), create, receive('m2'), startTurn);
    expect(running.now.pending.map(({ message }) => message.messageId)).toEqual(['m1']);
    expect(nextTurnAt(given(postpone('m1', at(60)), create, postpone('m2', at(50))).now)).toBe(at(50));
  });

  it('takes messages that are postponed when the program of the server wakes the task', () => {
    const woken = given(postpone('m1', at(60)), create, wake);
    expect(nextTurnAt(woken.now)).toBe('');
    expect(woken.when(startTurn)).toMatchObject([{ turn: 1, messageIds: ['m1'] }]);
  });

  it('starts at the time that the turn before it asked for, and not before', () => {
    const log = given(receive('m1'), create, startTurn, wakeAt(at(50)), wakeAt(at(60)), endTurn);
    expect(log.now.wakeAt).toBe(at(60));
    expect(nextTurnAt(log.now)).toBe(at(60));
    expect(reasonOf(() => log.when(startTurn, at(59)))).toBe('INTERNAL_ERROR');
    expect(log.when(startTurn, at(60))).toMatchObject([{ turn: 2, attempt: 1, messageIds: [] }]);
    const none = given(receive('m1'), create, startTurn, wakeAt(at(50)), wakeAt(), endTurn);
    expect(nextTurnAt(none.now)).toBeUndefined();
  });

  it('forgets the time when it starts, and keeps it when it is tried again', () => {
    const asked = [receive('m1'), create, startTurn, to('WORKING'), wakeAt(at(60))];
    expect(given(...asked, endTurn, receive('m2'), startTurn).now.wakeAt).toBeUndefined();
    expect(given(...asked, startTurn).now).toMatchObject({ wakeAt: at(60), openTurn: { attempt: 2 } });
  });

  it('that was asked for while another ran is still asked for when that one ends', () => {
    const log = given(receive('m1'), create, startTurn, to('AUTH_REQUIRED'), wake, endTurn);
    expect(log.now.woken).toEqual({});
    expect(log.when(startTurn)[0]).toMatchObject({ turn: 2, messageIds: [] });
  });

  it('that was asked for while another ran is still asked for when that one is tried again', () => {
    const again = given(receive('m1'), create, startTurn, to('AUTH_REQUIRED'), wake, startTurn);
    expect(again.now).toMatchObject({ woken: {}, openTurn: { number: 1, attempt: 2 } });
    const next = given(receive('m1'), create, startTurn, to('AUTH_REQUIRED'), wake, startTurn, endTurn);
    expect(next.when(startTurn)).toMatchObject([{ turn: 2, attempt: 1, messageIds: [] }]);
  });

  it('ends before the fact that closes the log', () => {
    for (const last of [to('COMPLETED'), to('FAILED'), to('CANCELED'), to('REJECTED'), answer('r1')]) {
      const facts = given(receive('m1'), create, startTurn).when(last);
      expect(facts.map(({ type }) => type)).toEqual(['turn-ended', 'status-changed']);
    }
    expect(
      given(receive('m1'), startTurn)
        .when(answer('r1'))
        .map(({ type }) => type),
    ).toEqual(['turn-ended', 'answered']);
  });
});

describe('a message that arrives while the turn runs', () => {
  const running = [receive('m1'), create, startTurn, receive('m2')];

  it('is taken by that turn once', () => {
    const log = given(...running, take('m2'));
    expect(log.facts.at(-1)).toMatchObject({ type: 'message-taken', turn: 1, messageId: 'm2' });
    expect(log.now.pending).toEqual([]);
    expect(log.now.taken.map(({ message }) => message.messageId)).toEqual(['m1', 'm2']);
    expect(log.when(take('m2'))).toEqual([]);
    expect(log.when(take('m1'))).toEqual([]);
  });

  it('cannot be taken before it arrived, nor without a turn', () => {
    expect(given(...running).refuses(take('m3'))).toBe('INVALID_AGENT_RESPONSE');
    expect(given(...running, endTurn).refuses(take('m2'))).toBe('INVALID_AGENT_RESPONSE');
  });

  it('wants the next turn when this one did not take it', () => {
    const facts = given(...running, endTurn).when(startTurn);
    expect(facts).toMatchObject([{ turn: 2, messageIds: ['m2'] }]);
  });
});

describe('a turn whose process died', () => {
  const open = [receive('m1'), create, startTurn, to('WORKING'), step('s1', { a: 1 })];

  it('starts again as the next attempt, for the same messages, with its completed steps', () => {
    const again = given(...open, startTurn);
    expect(again.facts.at(-1)).toMatchObject({ turn: 1, attempt: 2, messageIds: ['m1'] });
    expect(again.now).toMatchObject({
      turns: 1,
      openTurn: { number: 1, attempt: 2, messageIds: ['m1'], startedAt: at(5) },
    });
    expect(given(...open, startTurn, startTurn).now.openTurn).toMatchObject({ number: 1, attempt: 3 });
  });

  it('starts again for what it took while it ran, too', () => {
    const again = given(...open, receive('m2'), take('m2'), startTurn);
    expect(again.now.openTurn?.messageIds).toEqual(['m1', 'm2']);
    expect(again.now.taken.map(({ message }) => message.messageId)).toEqual(['m1', 'm2']);
    expect(again.now.pending).toEqual([]);
  });

  it('keeps apart what its attempts took while they ran', () => {
    const taken = [...open, receive('m2'), take('m2'), startTurn, receive('m3'), take('m3')];
    expect(given(...open, startTurn).now.openTurn?.takenLater).toBeUndefined();
    expect(given(...taken).now.openTurn).toMatchObject({ attempt: 2, takenLater: ['m2', 'm3'] });
    expect(given(...taken, startTurn).now.openTurn).toMatchObject({
      attempt: 3,
      messageIds: ['m1', 'm2', 'm3'],
      takenLater: ['m2', 'm3'],
    });
    const next = given(...taken, endTurn, receive('m4'), startTurn).now;
    expect(next.openTurn).toMatchObject({ number: 2, messageIds: ['m4'] });
    expect(next.openTurn?.takenLater).toBeUndefined();
  });

  it('goes on from a snapshot of a release that did not keep it apart', () => {
    const { now } = given(...open, receive('m2'), take('m2'), receive('m3'));
    const { takenLater: _, ...openTurn } = now.openTurn!;
    const earlier = fromSnapshot(stored(toSnapshot({ ...now, openTurn })));
    const again = decide(earlier, startTurn, at(20));
    expect(again).toMatchObject([{ attempt: 2, messageIds: ['m1', 'm2'] }]);
    const later = [...again, ...decide(again.reduce<State>(evolve, earlier), take('m3'), at(20))];
    expect(later.reduce<State>(evolve, earlier).openTurn).toMatchObject({
      messageIds: ['m1', 'm2', 'm3'],
      takenLater: ['m3'],
    });
  });

  it('leaves the messages that were not taken for later', () => {
    const again = given(...open, receive('m2'), startTurn);
    expect(again.now.openTurn?.messageIds).toEqual(['m1']);
    expect(again.now.pending.map(({ message }) => message.messageId)).toEqual(['m2']);
    expect(again.now.taken.map(({ message }) => message.messageId)).toEqual(['m1']);
  });

  it('puts a task to work that was left interrupted', () => {
    const facts = given(...open, to('AUTH_REQUIRED', 'q1')).when(startTurn);
    expect(facts.map(({ type }) => type)).toEqual(['turn-started', 'status-changed']);
  });

  it('is started again without a message that waits, for it waits itself', () => {
    const open = given(receive('m1'), create, startTurn);
    expect(open.now.pending).toEqual([]);
    expect(open.when(startTurn)).toMatchObject([{ attempt: 2 }]);
  });
});

describe('a child', () => {
  const running = [receive('m1'), create, startTurn];

  it('is kept for later turns and in snapshots, as it was recorded last', () => {
    const { now } = given(
      ...running,
      child('c', { record: { position: 1 } }),
      child('c', { taskId: 't', state: 'TASK_STATE_WORKING' }),
      to('INPUT_REQUIRED', 'q1'),
      endTurn,
      receive('m2'),
      startTurn,
    );
    const children = { c: { agent: 'Another', taskId: 't', state: 'TASK_STATE_WORKING' } };
    expect(now.children).toEqual(children);
    expect(fromSnapshot(stored(toSnapshot(now))).children).toEqual(children);
  });

  it('is recorded before the update that tells of it, in the same decision', () => {
    const { update } = to('COMPLETED', 'c1') as Command & { type: 'update' };
    const told: Command = { type: 'update', update: { ...update, child: { name: 'c', agent: 'Another' } } };
    const types = given(...running)
      .when(told)
      .map(({ type }) => type);
    expect(types).toEqual(['child-updated', 'turn-ended', 'status-changed']);
  });
});

describe('a step', () => {
  const running = [receive('m1'), create, startTurn];
  const back = (...commands: Command[]) => stepsOf(fromSnapshot(stored(toSnapshot(given(...commands).now))));

  it('is completed once', () => {
    expect(given(...running, step('s1', 1)).refuses(step('s1', 2))).toBe('INVALID_AGENT_RESPONSE');
    expect(given(...running, step('s1', 1), startTurn).refuses(step('s1', 2))).toBe('INVALID_AGENT_RESPONSE');
  });

  it('may have any name', () => {
    const names = ['constructor', 'toString', '__proto__', '', '0'];
    const steps = names.map((name) => step(name, name));
    expect(Object.entries(back(...running, ...steps)!).sort()).toEqual(
      names.map((name) => [name, name]).sort(),
    );
  });

  it('is remembered as completed even when it has no result', () => {
    expect(back(...running, step('s1', undefined))).toEqual({ s1: null });
    expect(
      back(
        ...running,
        step('s1', () => 1),
      ),
    ).toEqual({ s1: null });
  });

  it('is one of those after which it was completed, and of no others', () => {
    const one = given(...running, step('s1', 1)).now;
    const [left, right] = ['left', 'right'].map((name) => given(...running, step('s1', 1), step(name, 1)));
    const after = (state: State, name: string) => decide(state, step(name, 2), at(9)).reduce(evolve, state);
    const [another, other] = [after(one, 'another'), after(one, 'other')];
    expect(stepsOf(one)).toEqual({ s1: 1 });
    expect(stepsOf(another)).toEqual({ s1: 1, another: 2 });
    expect(stepsOf(other)).toEqual({ s1: 1, other: 2 });
    expect(stepsOf(after(after(one, 'other'), 'another'))).toEqual({ s1: 1, other: 2, another: 2 });
    expect([stepOf(one, 's1'), stepOf(one, 'another'), stepOf(other, 'other')]).toMatchObject([
      { result: 1 },
      undefined,
      { result: 2 },
    ]);
    expect([left, right].map((log) => Object.keys(stepsOf(log!.now)!))).toEqual([
      ['s1', 'left'],
      ['s1', 'right'],
    ]);
  });

  it('counts once in a log that has it twice: the first result', () => {
    const twice = given(...running, step('s1', 1), step('s2', 2)).facts.map((fact) =>
      fact.type === 'step-completed' ? { ...fact, name: 's' } : fact,
    );
    expect(stepsOf(replay(twice)!)).toEqual({ s: 1 });
    expect(
      stepOf(decide(replay(twice), step('t', 3), at(9)).reduce(evolve, replay(twice)!), 't')?.result,
    ).toBe(3);
  });

  it('belongs to its turn: the next turn starts without', () => {
    const next = given(...running, step('s1', 1), endTurn, receive('m2'), startTurn);
    expect(stepsOf(next.now)).toEqual({});
    expect(next.when(step('s1', 2))).toHaveLength(1);
    const [started] = given(receive('m1'), create).when(startTurn);
    const turn = { ...started!, turn: 2 } as Fact;
    expect(stepsOf(evolve(given(...running, step('s1', 1)).now, turn))).toEqual({});
  });
});

describe('cancellation', () => {
  const task = [receive('m1'), create, startTurn];

  it('is asked for once, and the first reason counts [R-CAN-03, R-CAN-06]', () => {
    const because = (reason: string): Command => ({ type: 'request-cancel', metadata: { reason } });
    const asked = given(...task, because('first'));
    expect(asked.when(because('second'))).toEqual([]);
    const stale = given(...task).when(because('second'));
    expect(stale.reduce(evolve, asked.now).cancelRequested).toEqual({
      at: at(3),
      metadata: { reason: 'first' },
    });
  });

  it('changes nothing for clients until the agent or its runner says so [R-CAN-04]', () => {
    const asked = given(...task, cancel);
    expect(viewTask(asked.now)).toEqual(viewTask(given(...task).now));
    expect(asked.now.generation).toBe(given(...task).now.generation);
    expect(asked.now.closed).toBe(false);
  });

  it('leaves everything else allowed meanwhile', () => {
    const asked = given(...task, cancel);
    for (const command of [receive('m2'), artifact('a1'), to('COMPLETED'), endTurn]) {
      expect(asked.when(command)).not.toEqual([]);
    }
  });
});

describe('time', () => {
  it('never goes back, even if the clock does', () => {
    const log = given(receive('m1'), create, to('WORKING'));
    expect(log.when(to('WORKING'), at(0))[0]).toMatchObject({ at: at(2), status: { timestamp: at(2) } });
    expect(log.when(to('WORKING'), at(9))[0]).toMatchObject({ at: at(9), status: { timestamp: at(9) } });
  });

  it('does not go back either after a fact that was appended by a process whose clock is behind', () => {
    const before = given(receive('m1'), create);
    const [stale] = before.when(cancel, at(1));
    const log = given(receive('m1'), create, startTurn, to('WORKING'));
    const after = evolve(log.now, stale!);
    expect(stale!.at < log.now.at).toBe(true);
    expect(after.at).toBe(log.now.at);
  });
});
