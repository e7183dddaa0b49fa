import { type Command, evolve, historyOf, type State, toSnapshot, viewTask } from '@batonjs/lifecycle';
import type { Task } from '@batonjs/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { artifact, at, create, endTurn, given, receive, said, startTurn, stored, take, to } from './given.ts';

const ids = (state: State, view?: Parameters<typeof historyOf>[1]) =>
  historyOf(state, view).map(({ messageId }) => messageId);

const conversation = [
  receive('m1'),
  create,
  startTurn,
  to('WORKING', 'w1'),
  to('INPUT_REQUIRED', 'q1'),
  endTurn,
  receive('m2'),
  startTurn,
  to('WORKING', 'w2'),
  to('COMPLETED', 'c1'),
];

describe('history', () => {
  it.each([
    { until: 2, off: ['m1'], on: ['m1'] },
    { until: 4, off: ['m1'], on: ['m1', 'w1'] },
    { until: 5, off: ['m1', 'w1'], on: ['m1', 'w1', 'q1'] },
    // The question is still the current status, and the answer to it was said after it.
    { until: 7, off: ['m1', 'w1', 'm2'], on: ['m1', 'w1', 'q1', 'm2'] },
    { until: 8, off: ['m1', 'w1', 'q1', 'm2'], on: ['m1', 'w1', 'q1', 'm2'] },
    { until: 10, off: ['m1', 'w1', 'q1', 'm2', 'w2'], on: ['m1', 'w1', 'q1', 'm2', 'w2', 'c1'] },
  ])(
    'after $until steps is $off, or $on with the current status [R-HIST-02, R-HIST-04]',
    ({ until, off, on }) => {
      const { now } = given(...conversation.slice(0, until));
      expect(ids(now)).toEqual(off);
      expect(ids(now, { currentStatusInHistory: false })).toEqual(off);
      expect(ids(now, { currentStatusInHistory: true })).toEqual(on);
    },
  );

  it('ends in the message of the current status once that was said last, as some clients assert [R-HIST-08]', () => {
    for (const until of [4, 5, 9, 10]) {
      const task = viewTask(given(...conversation.slice(0, until)).now, { currentStatusInHistory: true });
      expect(task.history?.at(-1)).toEqual(task.status.message);
    }
  });

  it("holds the first message with the task's ids from the start [R-HIST-06]", () => {
    expect(viewTask(given(receive('m1'), create).now).history).toEqual([said('m1', { taskId: 'task' })]);
  });

  it('has each message once, where it was said first, even if the agent says it again [R-HIST-04]', () => {
    const again = given(
      receive('m1'),
      create,
      to('WORKING', 'w1'),
      to('WORKING', 'w2'),
      to('COMPLETED', 'w1'),
    );
    expect(ids(again.now, { currentStatusInHistory: true })).toEqual(['m1', 'w1', 'w2']);
    expect(ids(again.now)).toEqual(['m1', 'w2']);
    expect(viewTask(again.now).status.message?.messageId).toBe('w1');
  });

  it("keeps a client's message whose id a status has as well", () => {
    const { now } = given(receive('m1'), create);
    const status = {
      state: 'TASK_STATE_WORKING',
      message: said('m1', { role: 'ROLE_AGENT' }),
      timestamp: at(3),
    };
    const after = evolve(now, { type: 'status-changed', format: 1, at: at(3), status } as never);
    expect(ids(after)).toEqual(['m1']);
    expect(historyOf(after)[0]?.role).toBe('ROLE_USER');
  });

  it('is the conversation of a log that is no task, too', () => {
    expect(ids(given(receive('m1'), startTurn).now)).toEqual(['m1']);
  });
});

describe('historyLength', () => {
  const { now } = given(...conversation);

  it.each([
    [undefined, ['m1', 'w1', 'q1', 'm2', 'w2']],
    [100, ['m1', 'w1', 'q1', 'm2', 'w2']],
    [5, ['m1', 'w1', 'q1', 'm2', 'w2']],
    [4, ['w1', 'q1', 'm2', 'w2']],
    [1, ['w2']],
  ])('%s leaves the most recent: %s [R-HLEN-01, R-HLEN-03]', (historyLength, expected) => {
    expect(ids(now, { historyLength })).toEqual(expected);
    expect(viewTask(now, { historyLength }).history?.map(({ messageId }) => messageId)).toEqual(expected);
  });

  it('trims after deciding whether the current status is in it [R-HIST-07]', () => {
    expect(ids(now, { historyLength: 2, currentStatusInHistory: true })).toEqual(['w2', 'c1']);
    const waiting = given(...conversation.slice(0, 7)).now;
    expect(ids(waiting, { historyLength: 2 })).toEqual(['w1', 'm2']);
    expect(ids(waiting, { historyLength: 1 })).toEqual(['m2']);
    const impatient = given(...conversation.slice(0, 7), receive('m3'), receive('m4')).now;
    expect(ids(impatient, { historyLength: 1 })).toEqual(['m4']);
    expect(ids(impatient, { historyLength: 2 })).toEqual(['m3', 'm4']);
    expect(ids(waiting, { historyLength: 2, currentStatusInHistory: true })).toEqual(['q1', 'm2']);
  });

  it('0 leaves the member out, and never touches status.message [R-HLEN-02, R-HLEN-05]', () => {
    const task = viewTask(now, { historyLength: 0, currentStatusInHistory: true });
    expect(task).not.toHaveProperty('history');
    expect(task.status.message?.messageId).toBe('c1');
  });

  it('leaves the member out when there is nothing to show', () => {
    const { now: one } = given(receive('m1'), create);
    const silent = { ...one, conversation: { ...one.conversation, messages: { items: [], length: 0 } } };
    expect(viewTask(silent)).not.toHaveProperty('history');
  });

  it('gives what trimming the whole history by hand gives, in both readings', () => {
    const said = fc.array(fc.constantFrom('WORKING', 'INPUT_REQUIRED', 'message', 'silent'), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(said, fc.nat(14), fc.boolean(), (moves, historyLength, currentStatusInHistory) => {
        const commands = moves.map((move, index) =>
          move === 'message'
            ? receive(`m${index}`)
            : move === 'silent'
              ? to('WORKING')
              : to(move, `s${index}`),
        );
        const { now: state } = given(receive('m'), create, ...commands);
        const all = ids(state, { currentStatusInHistory });
        expect(ids(state, { currentStatusInHistory, historyLength })).toEqual(
          historyLength === 0 ? [] : all.slice(-historyLength),
        );
        const current = viewTask(state).status.message?.messageId;
        expect(all.includes(current!)).toBe(current !== undefined && currentStatusInHistory);
      }),
    );
  });
});

describe('a task that is viewed', () => {
  const rich = given(
    ...conversation.slice(0, 4),
    artifact('a1', ['one', 'two']),
    artifact('a2'),
    receive('m2'),
    take('m2'),
  );

  it('has what the model names and nothing else [R-DM-01]', () => {
    expect(viewTask(rich.now)).toStrictEqual({
      id: 'task',
      contextId: 'context',
      status: {
        state: 'TASK_STATE_WORKING',
        timestamp: at(3),
        message: {
          messageId: 'w1',
          role: 'ROLE_AGENT',
          parts: [{ text: 'w1' }],
          taskId: 'task',
          contextId: 'context',
        },
      },
      artifacts: [
        { artifactId: 'a1', parts: [{ text: 'one' }, { text: 'two' }] },
        { artifactId: 'a2', parts: [{ text: 'a2' }] },
      ],
      history: [said('m1', { taskId: 'task' }), said('m2', { taskId: 'task' })],
    });
  });

  it('leaves the artifacts out when they are not wanted, and shows that there are none otherwise [R-LIST-05]', () => {
    expect(viewTask(rich.now, { artifacts: false })).not.toHaveProperty('artifacts');
    expect(viewTask(given(receive('m1'), create).now, { artifacts: true }).artifacts).toEqual([]);
  });

  it('does not say that there are no artifacts unless it is asked [R-JSON-12]', () => {
    expect(viewTask(given(receive('m1'), create).now)).not.toHaveProperty('artifacts');
    expect(viewTask(rich.now)).toHaveProperty('artifacts');
  });

  it('has lists of its own', () => {
    const before = stored(toSnapshot(rich.now));
    const task: Task = viewTask(rich.now, { currentStatusInHistory: true });
    for (const list of [task.artifacts, task.history, historyOf(rich.now), task.artifacts?.[0]?.parts])
      list?.splice(0);
    expect(stored(toSnapshot(rich.now))).toEqual(before);
    expect(viewTask(rich.now)).not.toEqual(task);
  });

  it('cannot be viewed before there is one', () => {
    expect(() => viewTask(given(receive('m1')).now)).toThrow(TypeError);
  });
});

describe('an artifact', () => {
  const task = [receive('m1'), create];

  it('is replaced where it stands, or grows [R-DM-09, R-DM-12]', () => {
    const log = given(
      ...task,
      artifact('a1', ['one']),
      artifact('a2', ['x']),
      artifact('a1', ['two', 'three'], { append: true }),
      artifact('a2', ['y']),
    );
    expect(viewTask(log.now).artifacts).toEqual([
      { artifactId: 'a1', parts: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] },
      { artifactId: 'a2', parts: [{ text: 'y' }] },
    ]);
  });

  it('keeps what was said about it unless a later chunk says something else', () => {
    const chunk = (more: object, append: boolean): Command => ({
      type: 'update',
      update: { artifact: { artifactId: 'a1', parts: [{ text: 'x' }], ...more }, append },
    });
    const log = given(
      ...task,
      chunk({ name: 'n', description: 'd' }, false),
      chunk({ description: 'e' }, true),
    );
    expect(viewTask(log.now).artifacts).toMatchObject([{ name: 'n', description: 'e' }]);
  });

  it('cannot be appended to before it is there [R-DM-12]', () => {
    expect(given(...task).refuses(artifact('a1', ['x'], { append: true }))).toBe('INVALID_AGENT_RESPONSE');
  });
});
