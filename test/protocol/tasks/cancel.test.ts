import {
  authRequired,
  canceled,
  completed,
  completedBeforeCancel,
  failed,
  inputRequired,
  rejected,
  reply,
  working,
} from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { untilAborted } from '../../kit/until-aborted.ts';
import { everywhere, gate } from '../peer.ts';

const immediately = { configuration: { returnImmediately: true } };

everywhere('CancelTask', (serve) => {
  it('stops the agent and returns the task as it is then [R-CAN-01] [R-CAN-05]', async () => {
    let stopped = false;
    const { call } = await serve(async function* ({ signal }) {
      yield working();
      await untilAborted(signal);
      stopped = true;
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    const after = await call('CancelTask', { id: task.id });
    expect(after).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_CANCELED' } });
    expect(stopped).toBe(true);
    expect(await call('GetTask', { id: task.id })).toEqual(after);
  });

  it.each([
    ['COMPLETED', completed()],
    ['FAILED', failed()],
    ['REJECTED', rejected()],
  ])('is refused for a task that is %s [R-CAN-02] [R-STATE-10]', async (_state, last) => {
    const { call } = await serve(async function* () {
      yield last;
    });
    const { task } = await call('SendMessage', { message: say('go') });
    await expect(call('CancelTask', { id: task.id })).rejects.toMatchObject({
      reason: 'TASK_NOT_CANCELABLE',
    });
    expect(await call('GetTask', { id: task.id })).toEqual(task);
  });

  it('does not know tasks that do not exist [R-CAN-02]', async () => {
    const { call } = await serve(async function* () {
      yield completed();
    });
    await expect(call('CancelTask', { id: 'nobody' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('of a canceled task returns it again, unchanged [R-CAN-03] [R-IDEM-02]', async () => {
    const { call } = await serve(async function* () {
      yield inputRequired('Well?');
    });
    const { task } = await call('SendMessage', { message: say('go') });
    const once = await call('CancelTask', { id: task.id });
    expect(await call('CancelTask', { id: task.id })).toEqual(once);
    expect(await call('CancelTask', { id: task.id })).toEqual(once);
  });

  it('returns the task as it is where the agent is not done stopping in time [R-CAN-04]', async () => {
    const held = gate();
    const { call } = await serve(
      async function* () {
        yield working();
        await held.opened;
        yield canceled('Cleaned up');
      },
      { timeouts: { cancelMs: 30 } },
    );
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    expect((await call('CancelTask', { id: task.id })).status.state).toMatch(/SUBMITTED|WORKING/);
    held.open();
    await expect
      .poll(async () => (await call('GetTask', { id: task.id })).status)
      .toMatchObject({ state: 'TASK_STATE_CANCELED', message: { parts: [{ text: 'Cleaned up' }] } });
  });

  it.each([
    ['INPUT_REQUIRED', inputRequired('Well?')],
    ['AUTH_REQUIRED', authRequired('Sign in')],
  ])('ends a task that is %s [R-CAN-05] [R-STATE-11]', async (_state, last) => {
    const { call } = await serve(async function* () {
      yield last;
    });
    const { task } = await call('SendMessage', { message: say('go') });
    expect((await call('CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
    await expect(call('SendMessage', { message: say('on', { taskId: task.id }) })).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });

  it('ends a task whose turn has not begun, without calling the agent [R-CAN-05]', async () => {
    const held = gate();
    const called: string[] = [];
    const { call } = await serve(
      async function* ({ text }) {
        called.push(text);
        if (text === 'ask') return yield inputRequired('Well?');
        await held.opened;
        yield completed();
      },
      { limits: { turns: 1 } },
    );
    const { task: asking } = await call('SendMessage', { message: say('ask') });
    await call('SendMessage', { message: say('first'), ...immediately });
    await expect.poll(() => called).toEqual(['ask', 'first']);
    const { task } = await call('SendMessage', { message: say('second'), ...immediately });
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    // All room for turns is taken meanwhile.
    for (const { id } of [task, asking])
      expect((await call('CancelTask', { id })).status.state).toBe('TASK_STATE_CANCELED');
    held.open();
    expect(called).toEqual(['ask', 'first']);
  });

  it.each([
    ['completes with what it has', () => completed('Half an answer')],
    ['asks something', () => inputRequired('Well?')],
  ])('ends the task as CANCELED where the agent stops early and %s [R-CAN-05]', async (_what, last) => {
    const { call } = await serve(async function* ({ signal }) {
      yield working();
      await untilAborted(signal);
      yield last();
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    const after = await call('CancelTask', { id: task.id });
    expect(after.status).toMatchObject({ state: 'TASK_STATE_CANCELED' });
    expect(after.status.message).toBeUndefined();
  });

  it('ends the task as CANCELED where the agent answers with a message nevertheless [R-CAN-05]', async () => {
    const { call } = await serve(async ({ signal }) => {
      await untilAborted(signal);
      return reply('Half an answer');
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    expect((await call('CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('loses against an end that came first, and says so [R-CAN-05]', async () => {
    const { call } = await serve(async function* ({ signal }) {
      yield working();
      await untilAborted(signal);
      yield completedBeforeCancel('Just done');
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    await expect(call('CancelTask', { id: task.id })).rejects.toMatchObject({
      reason: 'TASK_NOT_CANCELABLE',
    });
    expect((await call('GetTask', { id: task.id })).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('has exactly one end, however many cancel at once [R-CAN-05] [R-STATE-10]', async () => {
    const { call } = await serve(async function* () {
      yield inputRequired('Well?');
    });
    const { task } = await call('SendMessage', { message: say('go') });
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('CancelTask', { id: task.id })));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0].status.state).toBe('TASK_STATE_CANCELED');
  });

  it('takes metadata such as a reason [R-CAN-06]', async () => {
    const { call } = await serve(async function* () {
      yield inputRequired('Well?');
    });
    const { task } = await call('SendMessage', { message: say('go') });
    const metadata = { reason: 'changed my mind' };
    expect((await call('CancelTask', { id: task.id, metadata })).status.state).toBe('TASK_STATE_CANCELED');
  });
});
