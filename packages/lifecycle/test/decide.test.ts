import type { Command, Fact } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import {
  answer,
  artifact,
  at,
  cancel,
  child,
  create,
  endTurn,
  failStep,
  failTurn,
  given,
  logged,
  openCallback,
  pauseTurn,
  receive,
  receiveCallback,
  remember,
  startTurn,
  step,
  take,
  to,
  wake,
  wakeAt,
} from './given.ts';

const task = [receive('m1'), create];
const working = [...task, startTurn, to('WORKING', 'w1'), artifact('a1')];

const situations: Record<string, readonly Command[]> = {
  nothing: [],
  received: [receive('m1')],
  running: [receive('m1'), startTurn],
  answered: [receive('m1'), startTurn, answer('r1')],
  submitted: task,
  working,
  'working, m2 waits': [...working, receive('m2')],
  'working, cancel asked': [...working, cancel],
  'input required': [...working, to('INPUT_REQUIRED', 'q1'), endTurn],
  'auth required': [...working, to('AUTH_REQUIRED', 'q1'), endTurn],
  'auth required, running': [...working, to('AUTH_REQUIRED', 'q1')],
  paused: [...working, pauseTurn(at(90))],
  'callback open': [...working, openCallback('b1', at(90)), endTurn],
  completed: [...working, to('COMPLETED')],
  failed: [...working, to('FAILED')],
  canceled: [...working, cancel, to('CANCELED')],
  rejected: [...working, to('REJECTED')],
};

const commands: Record<string, Command> = {
  'a message': receive('m3'),
  'the first message again': receive('m1'),
  'another context': receive('m3', { contextId: 'elsewhere' }),
  "an agent's id": receive('w1'),
  create,
  'start a turn': startTurn,
  'take m2': take('m2'),
  'go to WORKING': to('WORKING'),
  'go to COMPLETED': to('COMPLETED', 'c1'),
  'a new artifact': artifact('a2'),
  'more of a1': artifact('a1', ['more'], { append: true }),
  answer: answer('r2'),
  "answer with a client's id": answer('m1'),
  'complete a step': step('s1', 1),
  'record a child': child('c1'),
  'end the turn': endTurn,
  wake,
  cancel,
  'wake at a time': wakeAt(at(100)),
  'fail a step': failStep('s1'),
  'fail the turn': failTurn(at(100)),
  'pause the turn': pauseTurn(at(100)),
  remember: remember({ k: 1 }),
  'log a line': logged('Looking'),
  'open a callback': openCallback('b2', at(100)),
  'get a value': receiveCallback('b1', 1),
};

const letters: Record<Fact['type'], string> = {
  'message-received': 'M',
  'task-created': 'T',
  answered: 'A',
  'turn-started': '<',
  'message-taken': 't',
  'turn-ended': '>',
  woken: 'W',
  'status-changed': 'S',
  'artifact-updated': 'P',
  'cancel-requested': 'C',
  'step-completed': 's',
  'wake-set': 'w',
  'child-updated': 'c',
  'step-failed': 'x',
  'turn-failed': 'f',
  'turn-paused': 'p',
  'memory-changed': 'm',
  'turn-logged': 'L',
  'callback-opened': 'o',
  'callback-received': 'v',
  'labels-set': 'l',
};
const reasons: Record<string, string> = {
  lost: 'TASK_NOT_FOUND',
  fix: 'INVALID_PARAMS',
  over: 'UNSUPPORTED_OPERATION',
  bad: 'INVALID_AGENT_RESPONSE',
  late: 'TASK_NOT_CANCELABLE',
  same: 'MESSAGE_ID_CONFLICT',
  bug: 'INTERNAL_ERROR',
};

// What each command causes in each situation, in the order of `commands`: facts by letter, a reason by word, '-' for nothing.
const outcomes: Record<string, string> = {
  //                        message again context id   create start take WORK COMPL new  more answer mine step kid  end  wake cancel wakeAt fail fail paus mem  log  open get
  nothing:
    /*               */ 'M    M     M    M      lost lost lost lost lost lost lost lost lost lost lost lost lost lost   lost   lost lost lost lost lost lost lost',
  received:
    /*              */ 'lost lost  lost lost   T    <    bad  bad  bad  bad  bad  A    bad  bad  bad  -    W    lost   bad   bad  bad  bad  m    L    bad  lost',
  running:
    /*               */ 'lost lost  lost lost   T    <    bad  bad  bad  bad  bad  >A   bad  s    bad  >    W    lost   w   x    f    p    m    L    o    lost',
  answered:
    /*              */ 'lost lost  lost lost   -    bad  bad  bad  bad  bad  bad  bad  bad  bad  bad  -    over lost   bad   bad  bad  bad  bad  bad  bad  lost',
  submitted:
    /*             */ 'M    -     fix  M      -    <    bad  S    S    P    bad  S    bad  bad  c    -    W    C      bad   bad  bad  bad  m    L    bad  lost',
  working:
    /*               */ 'M    -     fix  same   -    <    bad  S    >S   P    P    >S   bad  s    c    >    W    C      w   x    f    p    m    L    o    lost',
  'working, m2 waits':
    /*   */ 'M    -     fix  same   -    <    t    S    >S   P    P    >S   bad  s    c    >    W    C      w   x    f    p    m    L    o    lost',
  'working, cancel asked':
    /**/ 'M    -     fix  same   -    <    bad  S    >S   P    P    >S   bad  s    c    >    W    -      w   x    f    p    m    L    o    lost',
  'input required':
    /*      */ 'M    -     fix  same   -    bug  bad  S    S    P    P    S    bad  bad  c    -    W    C      bad   bad  bad  bad  m    L    bad  lost',
  'auth required':
    /*       */ 'M    -     fix  same   -    bug  bad  S    S    P    P    S    bad  bad  c    -    W    C      bad   bad  bad  bad  m    L    bad  lost',
  'auth required, running':
    /**/ 'M    -     fix  same   -    <S   bad  S    >S   P    P    >S   bad  s    c    >    W    C      w   x    f    p    m    L    o    lost',
  paused:
    /*                */ 'M    -     fix  same   -    bug  bad  S    >S   P    P    >S   bad  bad  c    >    W    C      bad   bad  bad  bad  m    L    bad  lost',
  'callback open':
    /*       */ 'M    -     fix  same   -    bug  bad  S    S    P    P    S    bad  bad  c    -    W    C      bad   bad  bad  bad  m    L    bad  v',
  completed:
    /*             */ 'over -     fix  same   -    bad  bad  bad  bad  bad  bad  bad  bad  bad  bad  -    over late   bad   bad  bad  bad  bad  bad  bad  lost',
  failed:
    /*                */ 'over -     fix  same   -    bad  bad  bad  bad  bad  bad  bad  bad  bad  bad  -    over late   bad   bad  bad  bad  bad  bad  bad  lost',
  canceled:
    /*              */ 'over -     fix  same   -    bad  bad  bad  bad  bad  bad  bad  bad  bad  bad  -    over -      bad   bad  bad  bad  bad  bad  bad  lost',
  rejected:
    /*              */ 'over -     fix  same   -    bad  bad  bad  bad  bad  bad  bad  bad  bad  bad  -    over late   bad   bad  bad  bad  bad  bad  bad  lost',
};

describe.each(Object.entries(situations))('when the log is: %s', (name, before) => {
  const expected = outcomes[name]!.trim().split(/\s+/);
  const log = given(...before);

  it.each(
    Object.entries(commands).map(([label, command], index) => [label, expected[index]!, command] as const),
  )('%s → %s [R-STATE-13, §2.12]', (_, outcome, command) => {
    const reason = reasons[outcome];
    if (reason) {
      expect(log.refuses(command)).toBe(reason);
    } else {
      const caused = log.when(command).map(({ type }) => letters[type]);
      expect(caused.join('') || '-').toBe(outcome);
    }
  });
});

it('has an outcome for every command in every situation', () => {
  expect(Object.keys(outcomes)).toEqual(Object.keys(situations));
  const widths = Object.values(outcomes).map((row) => row.trim().split(/\s+/).length);
  expect(new Set(widths)).toEqual(new Set([Object.keys(commands).length]));
});

describe('an update that also records something inside', () => {
  const inside = { child: { name: 'c1', agent: 'Another' }, labels: ['eu'], memory: { k: 1 } };
  const shown = {
    artifact: { artifact: { artifactId: 'a', parts: [{ text: 'A' }] } },
    status: { status: { state: 'TASK_STATE_WORKING' } },
  };
  const facts = { child: 'child-updated', labels: 'labels-set', memory: 'memory-changed' };
  const cases = Object.entries(shown).flatMap(([what, update]) =>
    Object.entries(inside).map(([name, value]) => [what, name, { ...update, [name]: value }] as const),
  );

  it.each(cases)('has a fact of both: %s with %s', (what, name, update) => {
    const before = given(receive('m1'), create, startTurn).facts.length;
    const log = given(receive('m1'), create, startTurn, { type: 'update', update } as Command).facts;
    expect(log.slice(before).map(({ type }) => type)).toEqual([
      facts[name as keyof typeof facts],
      what === 'artifact' ? 'artifact-updated' : 'status-changed',
    ]);
  });
});
