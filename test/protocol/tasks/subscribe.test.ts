import { append, artifact, authRequired, completed, inputRequired, working } from '@batonjs/server';
import { expect, it } from 'vitest';
import { brief, collect, say } from '../../kit/rpc.ts';
import { untilAborted } from '../../kit/until-aborted.ts';
import { everywhere, gate } from '../peer.ts';

const immediately = { configuration: { returnImmediately: true } };

everywhere('SubscribeToTask', (serve) => {
  it('starts with the task as it is, then sends new events, to its end [R-SUB-01] [R-SUB-04]', async () => {
    const held = gate();
    const { call, stream } = await serve(async function* () {
      yield artifact('a', 'one');
      yield working('Half');
      await held.opened;
      yield append('a', 'two');
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    await expect.poll(async () => (await call('GetTask', { id: task.id })).status.state).toMatch(/WORKING/);
    const follower = stream('SubscribeToTask', { id: task.id });
    expect((await follower.next()).value?.event).toEqual({ task: await call('GetTask', { id: task.id }) });
    held.open();
    expect(await collect(follower)).toEqual(['a:two', 'COMPLETED']);
  });

  it('is an error for a task that has ended [R-SUB-02]', async () => {
    const { call, stream } = await serve(async function* () {
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('go') });
    await expect(stream('SubscribeToTask', { id: task.id }).next()).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      metadata: { taskId: task.id },
    });
  });

  it.each([
    ['INPUT_REQUIRED', inputRequired('Well?')],
    ['AUTH_REQUIRED', authRequired('Sign in')],
  ])('works while a task is %s and no agent runs [R-SUB-03] [R-STR-07]', async (state, last) => {
    const { server, call, stream } = await serve(async function* ({ messages }) {
      if (messages.length === 1) return yield last;
      yield artifact('a', 'x');
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('go') });
    await expect.poll(() => server.load.turns).toBe(0);
    const follower = stream('SubscribeToTask', { id: task.id });
    expect((await follower.next()).value?.event).toMatchObject({
      task: { status: { state: `TASK_STATE_${state}` } },
    });
    await call('SendMessage', { message: say('on', { taskId: task.id }) });
    expect(await collect(follower)).toEqual(['WORKING', 'a:x', 'COMPLETED']);
  });

  it('does not know tasks that do not exist [R-SUB-05]', async () => {
    const { stream } = await serve(async function* () {
      yield completed();
    });
    await expect(stream('SubscribeToTask', { id: 'nobody' }).next()).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });

  it('has no gap and nothing twice between the task and what follows [R-SUB-06]', async () => {
    const chunks = 200;
    const { call, stream } = await serve(async function* () {
      yield artifact('a', '0');
      for (let n = 1; n < chunks; n++) yield append('a', `${n}`);
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    const follow = async () => {
      const texts: string[] = [];
      for await (const { event } of stream('SubscribeToTask', { id: task.id })) {
        const parts =
          'task' in event
            ? (event.task.artifacts?.[0]?.parts ?? [])
            : 'artifactUpdate' in event
              ? event.artifactUpdate.artifact.parts
              : [];
        for (const part of parts) if ('text' in part) texts.push(part.text);
      }
      return texts;
    };
    const seen = await Promise.all(
      // A follower that comes after the end is refused, which is no gap.
      Array.from({ length: 8 }, () => follow().catch(({ reason }) => reason)),
    );
    const all = Array.from({ length: chunks }, (_, n) => `${n}`);
    for (const texts of seen) if (texts !== 'UNSUPPORTED_OPERATION') expect(texts).toEqual(all);
    expect((await call('GetTask', { id: task.id })).artifacts[0].parts).toHaveLength(chunks);
  });

  it('goes on after the event that a client saw last [R-SSE-03]', async () => {
    const held = gate();
    const { call, stream } = await serve(async function* () {
      for (const n of [0, 1, 2, 3, 4]) yield artifact(`a${n}`, 'x');
      await held.opened;
      yield completed();
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    const follower = stream('SubscribeToTask', { id: task.id });
    let last: string | undefined;
    let sawAll = false;
    for await (const { id, event } of follower) {
      last = id;
      sawAll = ('task' in event && event.task.artifacts?.length === 5) || brief(event) === 'a4:x';
      if (sawAll) break;
    }
    held.open();
    await expect
      .poll(async () => (await call('GetTask', { id: task.id })).status.state)
      .toBe('TASK_STATE_COMPLETED');
    const resumed = stream('SubscribeToTask', { id: task.id }, { 'last-event-id': last ?? '' });
    expect(await collect(resumed)).toEqual(['COMPLETED']);
  });

  it('starts again, with the task, where it cannot go on [R-SSE-03] [R-SUB-07]', async () => {
    const { call, stream } = await serve(async function* () {
      yield inputRequired('Well?');
    });
    const { task } = await call('SendMessage', { message: say('go') });
    for (const lost of ['nonsense', 'other.3', 'other.99999', '.', `${task.id}.1`]) {
      const follower = stream('SubscribeToTask', { id: task.id }, { 'last-event-id': lost });
      const { value } = await follower.next();
      expect(value?.event).toHaveProperty('task');
      expect(value?.id).not.toBe(lost);
      await follower.return(undefined);
    }
  });

  it('shows all of the history, for it has no historyLength [R-SUB-08]', async () => {
    const { call, stream } = await serve(async function* ({ messages }) {
      if (messages.length < 3) return yield inputRequired('More?');
      yield working();
      await new Promise(() => {});
    });
    const { task } = await call('SendMessage', { message: say('one') });
    const follower = stream('SubscribeToTask', { id: task.id });
    expect((await follower.next()).value?.event).toMatchObject({ task: { history: [{}] } });
    await follower.return(undefined);
  });

  it('sends followers a cancel [R-CAN-04]', async () => {
    const { call, stream } = await serve(async function* ({ signal }) {
      yield working();
      await untilAborted(signal);
    });
    const { task } = await call('SendMessage', { message: say('go'), ...immediately });
    const follower = stream('SubscribeToTask', { id: task.id });
    await follower.next();
    await call('CancelTask', { id: task.id });
    expect((await collect(follower)).at(-1)).toBe('CANCELED');
  });
});
