import {
  append,
  artifact,
  authRequired,
  completed,
  failed,
  inputRequired,
  rejected,
  reply,
  working,
} from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { everywhere, gate } from '../peer.ts';

everywhere('SendMessage', (serve) => {
  it('returns a task or a message, never both [R-SEND-01] [R-SEND-02]', async () => {
    const { call } = await serve(({ text }) =>
      text === 'small talk'
        ? reply('Nice')
        : (async function* () {
            yield completed();
          })(),
    );
    expect(Object.keys(await call('SendMessage', { message: say('small talk') }))).toEqual(['message']);
    expect(Object.keys(await call('SendMessage', { message: say('work') }))).toEqual(['task']);
  });

  it.each([
    ['COMPLETED', completed('End')],
    ['FAILED', failed('End')],
    ['REJECTED', rejected('End')],
    ['INPUT_REQUIRED', inputRequired('End')],
    ['AUTH_REQUIRED', authRequired('End')],
  ])('waits until the task is %s [R-SEND-03]', async (state, last) => {
    const { call } = await serve(async function* () {
      yield working();
      yield last;
    });
    const { task } = await call('SendMessage', { message: say('go') });
    expect(task.status).toMatchObject({
      state: `TASK_STATE_${state}`,
      message: { parts: [{ text: 'End' }] },
    });
  });

  it('waits though it says so itself: returnImmediately false [R-SEND-03] [R-SEND-07]', async () => {
    const { call } = await serve(async function* () {
      yield completed();
    });
    const { task } = await call('SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: false },
    });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('returns all artifacts with the last state [R-SEND-04] [R-SEND-19]', async () => {
    const { call } = await serve(async function* () {
      yield artifact('a', 'one');
      yield append('a', ' two');
      yield artifact({ artifactId: 'b', name: 'B', description: 'other', lastChunk: true }, 'three');
      yield artifact('a', 'instead');
      yield append('a', '!');
      yield completed('Done');
    });
    const { task } = await call('SendMessage', { message: say('go') });
    expect(task.artifacts).toEqual([
      { artifactId: 'a', name: 'a', parts: [{ text: 'instead' }, { text: '!' }] },
      { artifactId: 'b', name: 'B', description: 'other', parts: [{ text: 'three' }] },
    ]);
    expect(task.status).toEqual({
      state: 'TASK_STATE_COMPLETED',
      message: expect.objectContaining({ role: 'ROLE_AGENT', parts: [{ text: 'Done' }] }),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it('answers at once with returnImmediately, in every state [R-SEND-05]', async () => {
    const held = gate();
    const { call } = await serve(async function* () {
      await held.opened;
      yield completed();
    });
    const { task } = await call('SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    held.open();
    await expect
      .poll(async () => (await call('GetTask', { id: task.id })).status.state)
      .toBe('TASK_STATE_COMPLETED');
  });

  it('answers at once also where the agent has not said yet whether there is a task [R-SEND-05]', async () => {
    const held = gate();
    const { call } = await serve(async () => {
      await held.opened;
      return reply('Hi');
    });
    const { task } = await call('SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    held.open();
    await expect
      .poll(async () => (await call('GetTask', { id: task.id })).status)
      .toMatchObject({ state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'Hi' }] } });
  });

  it('does not know tasks that do not exist, and lets no client choose an id [R-SEND-08] [R-SEND-11]', async () => {
    const { call } = await serve(async function* () {
      yield completed();
    });
    await expect(call('SendMessage', { message: say('go', { taskId: 'mine' }) })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
      metadata: { taskId: 'mine' },
    });
    expect((await call('ListTasks', {})).totalSize).toBe(0);
    const ids = [];
    for (const text of ['a', 'b', 'c']) ids.push((await call('SendMessage', { message: say(text) })).task.id);
    expect(new Set(ids).size).toBe(3);
  });

  it.each([
    ['COMPLETED', completed()],
    ['FAILED', failed()],
    ['REJECTED', rejected()],
  ])('refuses messages to a task that is %s [R-SEND-09] [R-STATE-10]', async (_state, last) => {
    const { call } = await serve(async function* () {
      yield last;
    });
    const { task } = await call('SendMessage', { message: say('go') });
    await expect(call('SendMessage', { message: say('more', { taskId: task.id }) })).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
    expect(await call('GetTask', { id: task.id })).toEqual(task);
  });

  it('accepts the media types of the card and of all skills, with parameters and wildcards [R-SEND-10, R-SEED-17]', async () => {
    const { call } = await serve(
      async function* () {
        yield completed();
      },
      {
        card: {
          name: 'Picky',
          description: 'x',
          defaultInputModes: ['text/plain'],
          skills: [{ id: 's', name: 's', description: 's', inputModes: ['image/*'] }],
        },
      },
    );
    const send = (part: object) =>
      call('SendMessage', { message: say([part] as never) }).then(
        ({ task }) => task.status.state,
        ({ reason }) => reason,
      );
    expect(await send({ text: 'a' })).toBe('TASK_STATE_COMPLETED');
    expect(await send({ text: 'a', mediaType: 'Text/Plain; charset=utf-8' })).toBe('TASK_STATE_COMPLETED');
    expect(await send({ raw: 'YQ==', mediaType: 'image/png' })).toBe('TASK_STATE_COMPLETED');
    expect(await send({ url: 'https://a.example/x' })).toBe('TASK_STATE_COMPLETED');
    expect(await send({ data: 1 })).toBe('CONTENT_TYPE_NOT_SUPPORTED');
    expect(await send({ text: 'a', mediaType: 'text/html' })).toBe('CONTENT_TYPE_NOT_SUPPORTED');
    expect(await send({ raw: 'YQ==', mediaType: 'audio/ogg' })).toBe('CONTENT_TYPE_NOT_SUPPORTED');
  });

  it('names the missing members [R-SEND-12]', async () => {
    const { call } = await serve(() => reply('Hi'));
    const error = await call('SendMessage', { message: { parts: [] } }).catch((error) => error);
    expect(error).toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest' }],
    });
    const fields = error.details[0].fieldViolations.map(({ field }: { field: string }) => field);
    expect(fields.sort()).toEqual(['message.messageId', 'message.parts', 'message.role']);
  });

  it('takes no messages of agents [R-SEND-13]', async () => {
    const { call } = await serve(() => reply('Hi'));
    await expect(
      call('SendMessage', { message: { ...say('hi'), role: 'ROLE_AGENT' } }),
    ).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });

  it('gives the agent the modes that the client accepts, and refuses what it cannot write [R-SEND-14]', async () => {
    let accepted: readonly string[] = [];
    const { call } = await serve((turn) => {
      accepted = turn.acceptedOutputModes;
      return reply('Hi');
    });
    const send = (acceptedOutputModes: string[]) =>
      call('SendMessage', { message: say('hi'), configuration: { acceptedOutputModes } });
    await send(['image/png', 'text/*']);
    expect(accepted).toEqual(['image/png', 'text/*']);
    await expect(send(['image/png'])).rejects.toMatchObject({ reason: 'CONTENT_TYPE_NOT_SUPPORTED' });
  });

  it('limits the history of what it returns [R-SEND-15]', async () => {
    const { call } = await serve(async function* () {
      yield working('one');
      yield working('two');
      yield completed('three');
    });
    const send = async (historyLength: number) =>
      (await call('SendMessage', { message: say('go'), configuration: { historyLength } })).task;
    expect(await send(0)).not.toHaveProperty('history');
    expect((await send(1)).history).toMatchObject([{ parts: [{ text: 'two' }] }]);
    expect((await send(9)).history).toHaveLength(3);
  });

  it('does not drop an inline push config where there is no push [R-SEND-16]', async () => {
    const { call } = await serve(() => reply('Hi'), {
      card: { name: 'Row', description: 'For tests', capabilities: { pushNotifications: false } },
    });
    const configuration = { taskPushNotificationConfig: { url: 'https://example.com/hook' } };
    await expect(call('SendMessage', { message: say('hi'), configuration })).rejects.toMatchObject({
      reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    });
  });

  it('keeps a message to a running task for the next turn, or for who takes it [R-SEND-17]', async () => {
    const held = gate();
    const turns: string[] = [];
    const { call } = await serve(async function* ({ text }) {
      turns.push(text);
      yield working();
      if (turns.length === 1) await held.opened;
      if (turns.length === 1) return yield inputRequired('More?');
      yield completed();
    });
    const { task } = await call('SendMessage', {
      message: say('first'),
      configuration: { returnImmediately: true },
    });
    const second = call('SendMessage', { message: say('second', { taskId: task.id }) });
    await expect.poll(async () => (await call('GetTask', { id: task.id })).history.length).toBeGreaterThan(1);
    held.open();
    expect((await second).task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(turns).toEqual(['first', 'second']);
  });

  it('answers messages to a task with the task [R-SEND-18]', async () => {
    const { call } = await serve(({ task }) =>
      task
        ? reply('Just a message')
        : (async function* () {
            yield inputRequired('Well?');
          })(),
    );
    const { task } = await call('SendMessage', { message: say('go') });
    const again = await call('SendMessage', { message: say('on', { taskId: task.id }) });
    expect(again.task.id).toBe(task.id);
  });

  it('sends messages of the agent with a context and without a task [R-SEND-20]', async () => {
    const { call } = await serve(() => ({ ...reply('Hi'), role: 'ROLE_USER', taskId: 'x', contextId: 'y' }));
    const { message } = await call('SendMessage', { message: say('hi', { contextId: 'c' }) });
    expect(message).toEqual({
      messageId: expect.any(String),
      role: 'ROLE_AGENT',
      contextId: 'c',
      parts: [{ text: 'Hi' }],
    });
  });

  it('goes on when the client does not wait [R-SEND-21]', async () => {
    const held = gate();
    const started = gate();
    const { fetch, call } = await serve(async function* () {
      started.open();
      await held.opened;
      yield completed('All the same');
    });
    const client = new AbortController();
    const waiting = fetch('/message:send', {
      method: 'POST',
      headers: { 'a2a-version': '1.0', 'content-type': 'application/json' },
      body: JSON.stringify({ message: say('go') }),
      signal: client.signal,
    });
    waiting.catch(() => {});
    await started.opened;
    client.abort();
    held.open();
    await expect
      .poll(async () => (await call('ListTasks', {})).tasks[0]?.status.state)
      .toBe('TASK_STATE_COMPLETED');
  });

  it('returns the task as it is when the wait is over [R-SEND-22]', async () => {
    const { call } = await serve(
      async function* () {
        yield working('On it');
        await new Promise(() => {});
      },
      { timeouts: { blockingMs: 30 } },
    );
    const { task } = await call('SendMessage', { message: say('go') });
    expect(task.status.state).toMatch(/SUBMITTED|WORKING/);
  });

  it('ends what an agent left unfinished [R-SEND-23]', async () => {
    const { call } = await serve(({ text }) => {
      if (text === 'throw') throw new Error('no');
      return (async function* () {
        yield working();
      })();
    });
    for (const text of ['throw', 'return']) {
      const { task } = await call('SendMessage', { message: say(text) });
      expect(task.status.state).toBe('TASK_STATE_FAILED');
    }
  });
});
