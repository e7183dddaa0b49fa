import {
  type Command,
  decide,
  evolve,
  fromSnapshot,
  historyOf,
  toSnapshot,
  viewTask,
} from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { answer, at, create, endTurn, given, receive, reply, said, startTurn, stored, to } from './given.ts';

describe('a message to a task', () => {
  const task = given(receive('m1'), create, startTurn, to('INPUT_REQUIRED', 'q1'), endTurn);

  it('is kept with the ids of the task, whichever of them the client left out [R-CTX-04]', () => {
    for (const more of [{ contextId: undefined }, { contextId: '' }, { taskId: 'task' }, {}]) {
      const [fact] = task.when(receive('m2', more));
      expect(fact).toMatchObject({ message: { messageId: 'm2', contextId: 'context', taskId: 'task' } });
    }
  });

  it('keeps what it refers to, and everything that came with it [R-REF-02]', () => {
    const command: Command = {
      type: 'receive',
      message: said('m2', { referenceTaskIds: ['other', 'missing'], extensions: ['urn:x'] }),
      configuration: { historyLength: 3 },
      metadata: { skill: 'x' },
      extensions: ['urn:x'],
      caller: { sub: 'alice' },
    };
    const [fact] = task.when(command);
    const { type: _, message, ...rest } = command;
    expect(fact).toMatchObject({ ...rest, message: { ...message, taskId: 'task' } });
  });

  it('adds the skill that it names to those of the task, which a snapshot keeps', () => {
    const naming = (messageId: string, skill?: string): Command => ({
      type: 'receive',
      message: said(messageId),
      ...(skill && { skill }),
    });
    const { now } = given(
      naming('m1', 'post'),
      create,
      naming('m2'),
      naming('m3', 'list'),
      naming('m4', 'post'),
    );
    expect(now.skills).toEqual(['post', 'list']);
    expect(fromSnapshot(stored(toSnapshot(now))).skills).toEqual(['post', 'list']);
    expect(given(naming('m1'), create, naming('m2', 'list')).now.skills).toEqual(['list']);
    expect(task.now.skills).toBeUndefined();
  });

  it('names the member that is wrong when the context is another one [R-CTX-05]', () => {
    const refused = () => task.when(receive('m2', { contextId: 'elsewhere' }));
    expect(refused).toThrow(A2AError);
    try {
      refused();
    } catch (error) {
      expect((error as A2AError).details).toEqual([
        expect.objectContaining({
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [expect.objectContaining({ field: 'message.contextId' })],
        }),
      ]);
    }
  });

  it('names the wrong context before the finished task', () => {
    const done = given(receive('m1'), create, to('COMPLETED'));
    expect(done.refuses(receive('m2', { contextId: 'elsewhere' }))).toBe('INVALID_PARAMS');
    expect(done.refuses(receive('m2'))).toBe('UNSUPPORTED_OPERATION');
  });

  it('waits until a turn takes it, also while the task waits for authorization [R-STATE-15]', () => {
    const waiting = given(receive('m1'), create, startTurn, to('AUTH_REQUIRED', 'q1'), receive('m2'));
    expect(waiting.now.pending.map(({ message }) => message.messageId)).toEqual(['m2']);
    expect(waiting.now.openTurn?.messageIds).toEqual(['m1']);
    expect(viewTask(waiting.now).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  });

  it('that arrived before causes nothing, not even when it finished the task [R-IDEM-01]', () => {
    const done = given(
      receive('m1'),
      create,
      to('INPUT_REQUIRED', 'q1'),
      receive('m2'),
      startTurn,
      to('COMPLETED'),
    );
    expect(done.when(receive('m2'))).toEqual([]);
  });

  it('that two processes appended at once is answered once', () => {
    const { now } = task;
    const [fact] = decide(now, receive('m2'), at(60));
    const twice = evolve(evolve(now, fact!), fact!);
    expect(twice.pending).toHaveLength(1);
    expect(twice.version).toBe(now.version + 2);
    const taken = decide(twice, startTurn, at(61)).reduce(evolve, twice);
    expect(evolve(taken, fact!).pending).toEqual([]);
  });
});

describe("an agent's message", () => {
  const working = given(receive('m1'), create, startTurn, to('WORKING'));
  const report = (message: unknown): Command =>
    ({ type: 'update', update: { status: { state: 'TASK_STATE_WORKING', message } } }) as Command;

  it('gets the role and the ids, whatever the agent wrote [R-DM-04]', () => {
    const message = reply('w1', { role: 'ROLE_USER', taskId: 'x', contextId: 'y' });
    expect(working.when(report(message))[0]).toMatchObject({
      status: { message: { role: 'ROLE_AGENT', taskId: 'task', contextId: 'context' }, timestamp: at(4) },
    });
  });

  it('that answers without a task has a context and no task id [R-SEND-20]', () => {
    const facts = given(receive('m1'), startTurn).when(answer('r1', { taskId: 'x', contextId: 'y' }));
    const [, answered] = facts;
    expect(answered).toMatchObject({
      type: 'answered',
      message: { role: 'ROLE_AGENT', contextId: 'context' },
    });
    expect(answered).not.toHaveProperty('message.taskId');
  });

  it('that answers once there is a task completes it as the message of its status [R-SEND-18]', () => {
    const done = given(receive('m1'), startTurn, create, answer('r1'));
    expect(viewTask(done.now).status).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      message: { messageId: 'r1', taskId: 'task', contextId: 'context' },
    });
    expect(done.now.answer).toBeUndefined();
    expect(done.now.openTurn).toBeUndefined();
  });

  it('still completes the task when cancellation was asked for meanwhile [R-CAN-05]', () => {
    const done = given(receive('m1'), startTurn, create, { type: 'request-cancel' }, answer('r1'));
    expect(viewTask(done.now).status.state).toBe('TASK_STATE_COMPLETED');
    expect(done.refuses({ type: 'request-cancel' })).toBe('TASK_NOT_CANCELABLE');
  });

  it('cannot answer a later message to the task [R-SEND-18]', () => {
    const second = given(
      receive('m1'),
      create,
      startTurn,
      to('INPUT_REQUIRED'),
      endTurn,
      receive('m2'),
      startTurn,
    );
    expect(second.refuses(answer('r1'))).toBe('INVALID_AGENT_RESPONSE');
  });

  it('closes a log for good: it never becomes a task afterwards', () => {
    const answered = given(receive('m1'), startTurn, answer('r1'));
    expect(answered.now.closed).toBe(true);
    expect(answered.when(create)).toEqual([]);
  });

  it("cannot have the id of a client's message", () => {
    expect(working.refuses(report(reply('m1')))).toBe('INVALID_AGENT_RESPONSE');
    expect(given(receive('m1'), startTurn).refuses(answer('m1'))).toBe('INVALID_AGENT_RESPONSE');
  });

  it.each([
    ['no id', { ...reply('w1'), messageId: undefined }],
    ['an empty id', reply('')],
    ['no parts', { ...reply('w1'), parts: undefined }],
    ['an empty list of parts', reply('w1', { parts: [] })],
  ])('with %s is refused, so that nothing is stored that cannot be shown', (_, message) => {
    expect(working.refuses(report(message))).toBe('INVALID_AGENT_RESPONSE');
    const answers: Command = { type: 'answer', message: message as never };
    expect(given(receive('m1'), startTurn).refuses(answers)).toBe('INVALID_AGENT_RESPONSE');
  });

  it('is in the conversation of its log, whichever way history is read', () => {
    const spoken = given(receive('m1'), create, to('WORKING', 'w1'));
    const all = historyOf(spoken.now, { currentStatusInHistory: true });
    expect(all.map(({ messageId, role }) => [messageId, role])).toEqual([
      ['m1', 'ROLE_USER'],
      ['w1', 'ROLE_AGENT'],
    ]);
  });
});

describe('what an agent puts out', () => {
  const working = given(receive('m1'), create, startTurn);

  it('stays as it was when it was put out, whatever the agent does to it later', () => {
    const parts = [{ data: { count: 1 } }];
    const metadata = { tags: ['a'] };
    const facts = working.when({
      type: 'update',
      update: { artifact: { artifactId: 'a1', parts }, metadata },
    });
    const after = facts.reduce(evolve, working.now);
    parts[0]!.data.count = 2;
    parts.push({ data: { count: 3 } });
    metadata.tags.push('b');
    expect(facts[0]).toMatchObject({
      artifact: { parts: [{ data: { count: 1 } }] },
      metadata: { tags: ['a'] },
    });
    expect(viewTask(after).artifacts).toEqual([{ artifactId: 'a1', parts: [{ data: { count: 1 } }] }]);
  });

  it('is in the fact exactly as a store gives it back', () => {
    const data = { when: new Date(0), nothing: undefined, list: [undefined, Number.NaN], ['__proto__']: 1 };
    const update = { artifact: { artifactId: 'a1', name: undefined, parts: [{ data }] } };
    const facts = working.when({ type: 'update', update: update as never });
    expect(facts).toStrictEqual(stored(facts));
    expect(facts).toStrictEqual([
      {
        format: 1,
        at: at(3),
        type: 'artifact-updated',
        append: false,
        lastChunk: false,
        artifact: {
          artifactId: 'a1',
          parts: [
            { data: JSON.parse('{"when":"1970-01-01T00:00:00.000Z","list":[null,null],"__proto__":1}') },
          ],
        },
      },
    ]);
  });

  it.each([
    ['a bigint', 1n],
    ['a value that cannot be written', { toJSON: () => JSON.parse('{') }],
    ['a circle', circle()],
  ])('is refused when it is not JSON: %s', (_, data) => {
    const command: Command = {
      type: 'update',
      update: { artifact: { artifactId: 'a1', parts: [{ data }] } },
    } as never;
    expect(() => working.when(command)).toThrow(
      expect.objectContaining({ reason: 'INVALID_AGENT_RESPONSE' }),
    );
  });

  it.each([
    ['no id', { parts: [{ text: 'x' }] }],
    ['no parts', { artifactId: 'a1' }],
    ['an empty list of parts', { artifactId: 'a1', parts: [] }],
  ])('is refused when it is an artifact with %s [R-DM-07]', (_, artifact) => {
    expect(working.refuses({ type: 'update', update: { artifact } } as never)).toBe('INVALID_AGENT_RESPONSE');
  });
});

function circle(): unknown {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  return cyclic;
}
