import type { Message, Task } from '@batonjs/protocol';
import { artifact, completed, inputRequired, reply } from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { everywhere } from '../peer.ts';

everywhere('Contexts and references', (serve) => {
  it('makes a context where none is given, for tasks and for messages [R-CTX-01]', async () => {
    const { call } = await serve(({ text }) =>
      text === 'talk'
        ? reply('Hi')
        : (async function* () {
            yield completed();
          })(),
    );
    const { task } = await call('SendMessage', { message: say('work') });
    const { message } = await call('SendMessage', { message: say('talk') });
    expect(task.contextId).toMatch(/\S{8,}/);
    expect(message.contextId).toMatch(/\S{8,}/);
    expect(message.contextId).not.toBe(task.contextId);
    const { task: empty } = await call('SendMessage', { message: say('work', { contextId: '' }) });
    expect(empty.contextId).toMatch(/\S{8,}/);
  });

  it('keeps the context that a client gives [R-CTX-02] [R-CTX-03]', async () => {
    const { call } = await serve(({ text }) =>
      text === 'talk'
        ? reply('Hi')
        : (async function* () {
            yield completed('Done');
          })(),
    );
    const { task } = await call('SendMessage', { message: say('work', { contextId: 'my-context' }) });
    expect(task).toMatchObject({ contextId: 'my-context', status: { message: { contextId: 'my-context' } } });
    const { message } = await call('SendMessage', { message: say('talk', { contextId: 'my-context' }) });
    expect(message.contextId).toBe('my-context');
  });

  it('infers the context of a message that only names its task [R-CTX-04]', async () => {
    const { call } = await serve(async function* ({ messages }) {
      yield messages.length === 1 ? inputRequired('Well?') : completed();
    });
    const { task } = await call('SendMessage', { message: say('go') });
    const { task: after } = await call('SendMessage', { message: say('on', { taskId: task.id }) });
    expect(after.contextId).toBe(task.contextId);
    expect(after.history.map(({ contextId }: Message) => contextId)).toEqual(
      after.history.map(() => task.contextId),
    );
  });

  it('refuses a message whose context is not that of its task [R-CTX-05] [R-ERR-09]', async () => {
    const { call } = await serve(async function* ({ messages }) {
      yield messages.length === 1 ? inputRequired('Well?') : completed();
    });
    const { task } = await call('SendMessage', { message: say('go') });
    await expect(
      call('SendMessage', { message: say('on', { taskId: task.id, contextId: 'another' }) }),
    ).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [{ fieldViolations: [{ field: 'message.contextId' }] }],
    });
    expect(await call('GetTask', { id: task.id })).toEqual(task);
    const { task: after } = await call('SendMessage', {
      message: say('on', { taskId: task.id, contextId: task.contextId }),
    });
    expect(after.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('starts a new task in the context, even if one there waits for an answer [R-CTX-06] [R-CTX-09]', async () => {
    const { call } = await serve(async function* () {
      yield inputRequired('Well?');
    });
    const { task: first } = await call('SendMessage', { message: say('one') });
    const more = ['two', 'three'].map((text) =>
      call('SendMessage', { message: say(text, { contextId: first.contextId }) }),
    );
    const ids = (await Promise.all(more)).map(({ task }) => task.id);
    expect(new Set([first.id, ...ids]).size).toBe(3);
    expect((await call('ListTasks', { contextId: first.contextId })).totalSize).toBe(3);
  });

  it('shows an agent what else was said and done in the context [R-CTX-07]', async () => {
    let tasks: Task[] = [];
    let messages: Message[] = [];
    const { call } = await serve((turn) => {
      if (turn.text === 'talk') return reply('Hi');
      return (async function* () {
        tasks = await turn.context.tasks();
        messages = await turn.context.messages();
        yield artifact('made', turn.text);
        yield completed();
      })();
    });
    const contextId = 'c';
    const send = async (text: string, more: object) => {
      const sent = await call('SendMessage', { message: say(text, more) });
      // What begins in the same millisecond has no order.
      const now = Date.now();
      await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(now);
      return sent;
    };
    await send('talk', { contextId });
    const { task } = await send('one', { contextId });
    await send('elsewhere', { contextId: 'd' });
    await send('two', { contextId });
    expect(tasks).toEqual([task]);
    expect(messages.map(({ role, parts }) => [role, 'text' in parts[0]! && parts[0].text])).toEqual([
      ['ROLE_USER', 'talk'],
      ['ROLE_AGENT', 'Hi'],
      ['ROLE_USER', 'one'],
    ]);
  });

  it('does not show one caller the context of another, though the name is the same [R-CTX-08]', async () => {
    let seen = -1;
    const { call } = await serve(
      async function* ({ context }) {
        seen = (await context.tasks()).length;
        yield completed();
      },
      { authenticate: ({ headers }) => ({ scope: headers.authorization ?? '' }) },
    );
    const send = (who: string) =>
      call('SendMessage', { message: say('x', { contextId: 'same' }) }, { authorization: who });
    await send('ann');
    await send('ann');
    expect(seen).toBe(1);
    await send('bob');
    expect(seen).toBe(0);
  });

  it('refines what was made: same context, a reference, a new task [R-REF-01] [R-REF-02] [R-REF-04]', async () => {
    const { call } = await serve(async function* (turn) {
      const { tasks } = await turn.references();
      const before = tasks[0]?.artifacts?.[0]?.parts[0];
      const text = before && 'text' in before ? `${before.text}, red` : 'a boat';
      yield artifact({ artifactId: crypto.randomUUID(), name: 'picture' }, text);
      yield completed();
    });
    const { task: first } = await call('SendMessage', { message: say('draw') });
    const { task: second } = await call('SendMessage', {
      message: say('in red', { contextId: first.contextId, referenceTaskIds: [first.id] }),
    });
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({
      contextId: first.contextId,
      artifacts: [{ name: 'picture', parts: [{ text: 'a boat, red' }] }],
      history: [{ referenceTaskIds: [first.id] }],
    });
    expect(await call('GetTask', { id: first.id })).toEqual(first);
  });

  it('gives the agent the missing references, and does not fail [R-REF-02]', async () => {
    let missing: readonly string[] = [];
    const { call } = await serve(
      async function* (turn) {
        missing = (await turn.references()).missing;
        yield completed();
      },
      { authenticate: ({ headers }) => ({ scope: headers.authorization ?? '' }) },
    );
    const { task } = await call('SendMessage', { message: say('x') }, { authorization: 'ann' });
    const referenceTaskIds = ['nobody', task.id];
    const sent = await call(
      'SendMessage',
      { message: say('x', { referenceTaskIds }) },
      { authorization: 'bob' },
    );
    expect(sent.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(missing).toEqual(referenceTaskIds);
  });

  it('meets the same task with the same message, and refuses another under its id [R-IDEM-01] [R-IDEM-03] [R-IDX-03] [R-IDX-04] [R-IDX-05]', async () => {
    let runs = 0;
    const { call } = await serve(
      async function* () {
        runs++;
        yield completed('Once');
      },
      { messages: { idempotency: true } },
    );
    const message = say('pay');
    const sent = await Promise.all(Array.from({ length: 5 }, () => call('SendMessage', { message })));
    for (const { task } of sent) expect(task).toEqual(sent[0].task);
    expect(runs).toBe(1);
    await expect(
      call('SendMessage', { message: { ...message, parts: [{ text: 'pay twice' }] } }),
    ).rejects.toMatchObject({
      reason: 'MESSAGE_ID_CONFLICT',
      metadata: { existingTaskId: sent[0].task.id },
    });
    expect(runs).toBe(1);
  });

  it('starts two tasks where repeats are not wanted', async () => {
    const { call } = await serve(
      async function* () {
        yield completed('Again');
      },
      { messages: { idempotency: false } },
    );
    const message = say('pay');
    const [one, two] = [await call('SendMessage', { message }), await call('SendMessage', { message })];
    expect(one.task.id).not.toBe(two.task.id);
  });

  it.each([true, false, 'authenticated'] as const)(
    'takes the same follow-up once, also with idempotency: %s [R-IDEM-01] [R-IDX-01]',
    async (idempotency) => {
      const turns: number[] = [];
      const { call } = await serve(
        async function* ({ messages }) {
          turns.push(messages.length);
          yield turns.length === 1 ? inputRequired('Well?') : inputRequired('And?');
        },
        { messages: { idempotency } },
      );
      const { task } = await call('SendMessage', { message: say('go') });
      const message = say('on', { taskId: task.id });
      await Promise.all([call('SendMessage', { message }), call('SendMessage', { message })]);
      const { history } = await call('GetTask', { id: task.id });
      const onceSaid = history.filter(({ messageId }: Message) => messageId === message.messageId);
      expect(onceSaid).toHaveLength(1);
      expect(turns).toHaveLength(2);
      await expect(
        call('SendMessage', { message: { ...message, parts: [{ text: 'off' }] } }),
      ).rejects.toMatchObject({ reason: 'MESSAGE_ID_CONFLICT' });
    },
  );
});
