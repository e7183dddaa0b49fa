import { GENERATION } from '@batonjs/protocol/headers';
import {
  append,
  artifact,
  completed,
  inputRequired,
  reply,
  type Turn,
  type Updates,
  working,
} from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { type Seen, say } from '../kit/rpc.ts';
import { everywhere, gate } from '../protocol/peer.ts';

const active = { 'a2a-extensions': GENERATION };
const preview = { compatibility: ['1.1'] } as const;

async function* quoting({ text }: Turn): Updates {
  yield working('On it');
  if (text === 'ask') return yield inputRequired('Well?');
  yield artifact('quote', 'a');
  yield working('Still on it');
  yield append('quote', 'b');
  yield completed();
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into JSON with matchers
const content = ({ event }: Seen): any => Object.values(event)[0];

async function all(events: AsyncIterable<Seen>): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

everywhere('The generation of a task', (serve) => {
  it('counts every status and every chunk from 1, without hole or double [R-P11-01] [R-P11-02] [R-P11-03] [R-P11-10] [R-P11-11] [R-P11-39]', async () => {
    const { stream, call } = await serve(quoting, preview);
    const seen = await all(stream('SendStreamingMessage', { message: say('go') }, active));
    expect(seen.map((event) => content(event).generation)).toEqual(['1', '2', '3', '4', '5', '6']);
    const { id } = content(seen[0]!);
    expect((await call('GetTask', { id }, active)).generation).toBe('6');
    const [listed] = (await call('ListTasks', {}, active)).tasks;
    expect(listed.generation).toBe('6');
    const [whole] = (await call('ListTasks', { includeArtifacts: true }, active)).tasks;
    expect(whole.generation).toBe('6');
  });

  it('goes on in a resumed stream, and over turns [R-P11-10] [R-P11-17]', async () => {
    const { stream, call } = await serve(quoting, preview);
    const first = await all(stream('SendStreamingMessage', { message: say('ask') }, active));
    expect(first.map((event) => content(event).generation)).toEqual(['1', '2', '3']);
    const { id } = content(first[0]!);
    const second = await all(stream('SendStreamingMessage', { message: say('go', { taskId: id }) }, active));
    // The message counts, and the answer to a question makes the task work again: one event more than the agent has.
    expect(second.map((event) => content(event).generation)).toEqual(['4', '5', '6', '7', '8', '9', '10']);
    const position = { 'last-event-id': second[1]!.id! };
    const rest = await all(stream('SubscribeToTask', { id }, { ...active, ...position }));
    expect(rest.map((event) => content(event).generation)).toEqual(['6', '7', '8', '9', '10']);
    expect((await call('GetTask', { id }, active)).generation).toBe('10');
  });

  it('is shown by the answer of a send and of a cancel [R-P11-01]', async () => {
    const { call } = await serve(quoting, preview);
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    expect(task.generation).toBe('3');
    expect((await call('CancelTask', { id: task.id }, active)).generation).toBe('4');
  });

  it('is shown to nobody who does not ask, and not without the option [R-P11-30] [R-P11-31] [R-P11-33]', async () => {
    const peer = await serve(quoting, preview);
    const card = await (await peer.fetch('/.well-known/agent-card.json')).json();
    expect(card.capabilities.extensions).toContainEqual(expect.objectContaining({ uri: GENERATION }));
    for (const [{ call, stream }, headers] of [
      [peer, {}],
      [await serve(quoting), active],
    ] as const) {
      const seen = await all(stream('SendStreamingMessage', { message: say('go') }, headers));
      const { id } = content(seen[0]!);
      // Names that only the extension has are as unknown as any other.
      const task = await call('GetTask', { id, currentGeneration: 99 }, headers);
      const page = await call('ListTasks', {}, headers);
      expect(JSON.stringify([seen, task, page])).not.toContain('generation');
    }
    const plain = await serve(quoting);
    expect(JSON.stringify(await (await plain.fetch('/.well-known/agent-card.json')).json())).not.toContain(
      'generation',
    );
  });

  it('is spoken by the version 1.1 where it is offered, and that version is refused elsewhere [R-P11-33]', async () => {
    const { call } = await serve(quoting, preview);
    const { task } = await call('SendMessage', { message: say('go') }, { 'a2a-version': '1.1' });
    expect(task.generation).toBe('6');
    const plain = await serve(quoting);
    await expect(plain.call('ListTasks', {}, { 'a2a-version': '1.1' })).rejects.toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
    });
  });

  it('is no member of a message', async () => {
    const { call, stream } = await serve(() => reply('Hi'), preview);
    expect(Object.keys(await call('SendMessage', { message: say('hi') }, active))).toEqual(['message']);
    const [event] = await all(stream('SendStreamingMessage', { message: say('hi') }, active));
    expect(content(event!)).not.toHaveProperty('generation');
  });
});

everywhere('GetTask with currentGeneration', (serve) => {
  it('waits for a change, and answers at once if there was one [R-P11-04] [R-P11-13] [R-P11-14]', async () => {
    const held = gate();
    const { call } = await serve(async function* () {
      yield working();
      await held.opened;
      yield completed();
    }, preview);
    const configuration = { returnImmediately: true };
    const { task } = await call('SendMessage', { message: say('go'), configuration }, active);
    const { id } = task;
    const second = await call('GetTask', { id, currentGeneration: 1 }, active);
    expect(second).toMatchObject({ generation: '2', status: { state: 'TASK_STATE_WORKING' } });
    expect(await call('GetTask', { id, currentGeneration: '0' }, active)).toMatchObject({ generation: '2' });
    const third = call('GetTask', { id, currentGeneration: '2' }, active);
    held.open();
    expect(await third).toMatchObject({ generation: '3', status: { state: 'TASK_STATE_COMPLETED' } });
    // A task that ended does not change.
    expect(await call('GetTask', { id, currentGeneration: 3 }, active)).toMatchObject({ generation: '3' });
  });

  it('answers with the present task when its time is over [R-P11-14] [R-P11-35]', async () => {
    const { call } = await serve(quoting, { ...preview, timeouts: { generationMs: 20 } });
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    const { id } = task;
    expect(await call('GetTask', { id, currentGeneration: 3 }, active)).toMatchObject({ generation: '3' });
    expect(await call('GetTask', { id, currentGeneration: 99 }, active)).toMatchObject({ generation: '3' });
  });

  it('counts among the followers of its task while it waits, and not after it', async () => {
    const held = gate();
    const limits = { followersPerTask: 2 };
    const { call, stream } = await serve(
      async function* () {
        yield working();
        await held.opened;
        yield completed();
      },
      { ...preview, limits, timeouts: { generationMs: 30 } },
    );
    const following = stream('SendStreamingMessage', { message: say('go') }, active)[Symbol.asyncIterator]();
    const { id } = content((await following.next()).value!);
    const wait = () => call('GetTask', { id, currentGeneration: 9 }, active);
    const outcomes = await Promise.allSettled([wait(), wait()]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    for (const _ of [1, 2]) expect((await wait()).status.state).toBe('TASK_STATE_WORKING');
    held.open();
    while (!(await following.next()).done);
  });

  it('refuses what is no integer, and does not know missing tasks [R-P11-04]', async () => {
    const { call, binding } = await serve(quoting, preview);
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    for (const currentGeneration of ['x', '1.5', ...(binding === 'HTTP+JSON' ? [] : [{}, true])])
      await expect(
        call('GetTask', { id: task.id, currentGeneration } as object, active),
      ).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    await expect(call('GetTask', { id: 'missing', currentGeneration: 0 }, active)).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });
});

everywhere('A send with ifGenerationMatch', (serve) => {
  const send = (text: string, taskId: string, ifGenerationMatch: number | string, more: object = {}) => ({
    message: say(text, { taskId, ...more }),
    configuration: { ifGenerationMatch },
  });

  it('is accepted at that generation, and refused at any other [R-P11-05] [R-P11-06] [R-P11-15]', async () => {
    const { call } = await serve(quoting, preview);
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    const { id } = task;
    for (const wrong of [2, '4', 0])
      await expect(call('SendMessage', send('ask', id, wrong), active)).rejects.toMatchObject({
        reason: 'TASK_GENERATION_MISMATCH',
        metadata: { taskId: id, expectedGeneration: String(wrong), currentGeneration: '3' },
      });
    expect((await call('SendMessage', send('go', id, '3'), active)).task.generation).toBe('10');
  });

  it('wins once: of two with the same generation, one is refused [R-P11-36] [R-P11-39]', async () => {
    const { call } = await serve(quoting, preview);
    const { task } = await call('SendMessage', { message: say('ask') }, active);
    const sends = ['one', 'two', 'three'].map((messageId) =>
      call('SendMessage', send('ask', task.id, 3, { messageId }), active).then(
        () => 'accepted',
        ({ reason }) => reason,
      ),
    );
    expect((await Promise.all(sends)).sort()).toEqual([
      'TASK_GENERATION_MISMATCH',
      'TASK_GENERATION_MISMATCH',
      'accepted',
    ]);
  });

  it('joins its original when it is repeated, and does not matter for a new task [R-P11-15] [R-P11-36]', async () => {
    const { call } = await serve(quoting, preview);
    const created = await call(
      'SendMessage',
      { message: say('ask'), configuration: { ifGenerationMatch: 7 } },
      active,
    );
    const { id } = created.task;
    const request = send('ask', id, 3);
    expect((await call('SendMessage', request, active)).task.generation).toBe('7');
    expect((await call('SendMessage', request, active)).task.generation).toBe('7');
    const ended = await call('SendMessage', send('go', id, 7), active);
    expect(ended.task.status.state).toBe('TASK_STATE_COMPLETED');
    // That it has ended counts before the condition.
    await expect(call('SendMessage', send('more', id, 1), active)).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });

  it('is ignored where the extension is not active [R-P11-30]', async () => {
    const { call } = await serve(quoting, preview);
    const { task } = await call('SendMessage', { message: say('ask') });
    expect((await call('SendMessage', send('go', task.id, 99))).task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
  });
});

describe('the error of a mismatch', () => {
  it('has its code on each binding [R-P11-06] [R-P11-38]', async () => {
    const { errorTable } = await import('@batonjs/protocol/errors');
    expect(errorTable.TASK_GENERATION_MISMATCH).toMatchObject({
      jsonRpc: -32010,
      http: 409,
      status: 'ABORTED',
    });
  });
});
