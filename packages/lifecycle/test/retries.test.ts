import { type Command, evolve, type Fact, nextTurnAt } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import {
  at,
  cancel,
  create,
  endTurn,
  failStep,
  failTurn,
  given,
  keptStep,
  pauseTurn,
  reasonOf,
  receive,
  startTurn,
  step,
  stepsOf,
  take,
  to,
  wake,
  wakeAt,
} from './given.ts';

const running = [receive('m1'), create, startTurn];

describe('a step that fails', () => {
  it('counts its tries, over attempts of the turn too, and says when the next one is', () => {
    const log = given(
      ...running,
      failStep('s', at(20)),
      failStep('toString'),
      startTurn,
      failStep('s', at(30)),
    );
    expect(log.facts.at(-1)).toMatchObject({
      type: 'step-failed',
      turn: 1,
      name: 's',
      attempt: 2,
      retryAt: at(30),
    });
    expect(log.now.openTurn).toMatchObject({
      attempt: 2,
      stepFailures: { s: { attempt: 2, retryAt: at(30) }, toString: { attempt: 1 } },
    });
  });

  it('has no time for the next try after its last', () => {
    const log = given(...running, failStep('s', at(20)), failStep('s'));
    expect(log.facts.at(-1)).not.toHaveProperty('retryAt');
    expect(log.now.openTurn?.stepFailures?.s).not.toHaveProperty('retryAt');
    expect(log.now.openTurn?.stepFailures?.s?.attempt).toBe(2);
  });

  it('is forgotten once it is completed, and with its turn', () => {
    const failed = [...running, failStep('s', at(9)), failStep('t', at(9))];
    const { now } = given(...failed, step('s', 1));
    expect(Object.keys(now.openTurn!.stepFailures!)).toEqual(['t']);
    expect(Object.keys(given(...failed, keptStep('t', 1)).now.openTurn!.stepFailures!)).toEqual(['s']);
    expect(given(...running, step('s', 1)).now.openTurn?.stepFailures).toBeUndefined();
    const next = given(...failed, to('INPUT_REQUIRED'), endTurn, receive('m2'), startTurn);
    expect(next.now.openTurn?.stepFailures).toBeUndefined();
  });

  it('is tried again when the agent threw, and not when its turn was paused or its process died', () => {
    const failed = [...running, failStep('s')];
    const again = { type: 'start-turn', dueBy: at(50) } as const;
    expect(given(...failed, failTurn(at(50)), again).now.openTurn?.stepFailures).toBeUndefined();
    expect(given(...failed, failTurn()).now.openTurn?.stepFailures).toMatchObject({ s: { attempt: 1 } });
    for (const next of [[pauseTurn(at(50)), again], [startTurn]])
      expect(given(...failed, ...next).now.openTurn?.stepFailures).toMatchObject({ s: { attempt: 1 } });
  });
});

describe('a turn that is paused', () => {
  const paused = (...pause: readonly Command[]) => given(...running, to('WORKING', 'w1'), ...pause);
  const ways = [
    ['because its agent threw', failTurn(at(60)), 'failures'],
    ['because it waits', pauseTurn(at(60)), 'pauses'],
  ] as const;

  it.each(ways)('%s starts again at its time, and not before', (_, pause, counter) => {
    const log = paused(pause);
    expect(log.now.openTurn).toMatchObject({ number: 1, attempt: 1, pausedUntil: at(60), [counter]: 1 });
    expect(nextTurnAt(log.now)).toBe(at(60));
    expect(reasonOf(() => log.when(startTurn, at(59)))).toBe('INTERNAL_ERROR');
    expect(log.when(startTurn, at(60))).toMatchObject([{ turn: 1, attempt: 2, messageIds: ['m1'] }]);
    const again = paused(pause, { type: 'start-turn', dueBy: at(60) });
    expect(again.now.openTurn).toMatchObject({ attempt: 2, [counter]: 1 });
    expect(again.now.openTurn?.pausedUntil).toBeUndefined();
    expect(nextTurnAt(again.now)).toBeUndefined();
  });

  it.each(ways)('%s waits, whatever comes meanwhile', (_, pause) => {
    const log = paused(wakeAt(at(10)), pause, receive('m2'), wake);
    expect(nextTurnAt(log.now)).toBe(at(60));
    expect(reasonOf(() => log.when(startTurn, at(59)))).toBe('INTERNAL_ERROR');
    const again = paused(pause, receive('m2'), { type: 'start-turn', dueBy: at(60) });
    expect(again.now.openTurn?.messageIds).toEqual(['m1']);
    expect(again.now.pending.map(({ message }) => message.messageId)).toEqual(['m2']);
    expect(again.when(take('m2'))).toHaveLength(1);
  });

  it.each(ways)('%s writes nothing more', (_, pause) => {
    for (const command of [
      step('s', 1),
      failStep('s'),
      failTurn(),
      pauseTurn(at(70)),
      take('m1'),
      wakeAt(at(9)),
    ])
      expect(paused(pause).refuses(command)).toBe('INVALID_AGENT_RESPONSE');
  });

  it.each(ways)('%s ends with its task', (_, pause) => {
    const log = paused(pause, cancel);
    expect(log.when(to('CANCELED')).map(({ type }) => type)).toEqual(['turn-ended', 'status-changed']);
    expect(paused(pause, cancel, to('CANCELED')).now.openTurn).toBeUndefined();
  });

  it('counts failures and pauses over its attempts, and the next turn counts from zero', () => {
    const again = { type: 'start-turn', dueBy: at(60) } as const;
    const both = [failTurn(at(60)), again, pauseTurn(at(60)), again, failTurn(at(60)), again] as const;
    expect(paused(...both).now.openTurn).toMatchObject({ attempt: 4, failures: 2, pauses: 1 });
    expect(paused(...both, pauseTurn(at(60))).now.openTurn).toMatchObject({ failures: 2, pauses: 2 });
    const next = paused(...both, to('INPUT_REQUIRED'), endTurn, receive('m2'), startTurn);
    expect(next.now.openTurn).toMatchObject({ number: 2, attempt: 1 });
    expect([next.now.openTurn?.failures, next.now.openTurn?.pauses]).toEqual([undefined, undefined]);
  });

  it('keeps the results of its steps and the times that it asked for', () => {
    const { now } = paused(step('s', 1), wakeAt(at(90)), failTurn(at(60)), {
      type: 'start-turn',
      dueBy: at(60),
    });
    expect(now).toMatchObject({ wakeAt: at(90) });
    expect(stepsOf(now)).toEqual({ s: 1 });
  });
});

describe('an agent that throws for the last time', () => {
  it('leaves its turn as it is, for the update that ends the task', () => {
    const log = given(...running, failTurn());
    expect(log.facts.at(-1)).toMatchObject({ type: 'turn-failed', turn: 1, attempt: 1 });
    expect(log.facts.at(-1)).not.toHaveProperty('retryAt');
    expect(log.now.openTurn).toMatchObject({ failures: 1 });
    expect(log.now.openTurn?.pausedUntil).toBeUndefined();
    expect(log.when(to('FAILED')).map(({ type }) => type)).toEqual(['turn-ended', 'status-changed']);
  });
});

it('what belongs to no open turn changes none', () => {
  const { now } = given(receive('m1'), create);
  const facts = [
    { type: 'step-failed', turn: 1, name: 's', attempt: 1, message: 'x' },
    { type: 'turn-failed', turn: 1, attempt: 1, message: 'x', retryAt: at(60) },
    { type: 'turn-paused', turn: 1, until: at(60) },
  ];
  for (const fact of facts)
    expect(evolve(now, { format: 1, at: at(9), ...fact } as Fact).openTurn).toBeUndefined();
});
