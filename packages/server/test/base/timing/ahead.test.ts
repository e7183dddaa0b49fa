import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, completed, inputRequired, working } from '../../../src/index.ts';
import { post } from '../../callbacks/serve-callbacks.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const configuration = { returnImmediately: true };

/** A server whose wall clock is ahead for three seconds when it is told, as that of its store. */
function stepping(agent: Agent, ahead: number, options: object = {}) {
  const clock = testClock(Date.parse('2026-01-01T00:00:00Z'));
  let by = 0;
  const now = () => clock.now() + by;
  const store = memoryStore({ now, monotonic: clock.monotonic });
  const server = serve(agent, { store, clock: { ...clock, now }, ...options });
  return {
    ...{ clock, store, server },
    async send(text: string, more: object = {}): Promise<string> {
      const sent = rpc(server, 'SendMessage', { message: say(text, more), configuration });
      await clock.advance(10);
      return (await sent).task.id;
    },
    /** Calls `work` while the clock is ahead. */
    async whileAhead<T>(work: () => Promise<T>): Promise<T> {
      by = ahead;
      const result = await work();
      await clock.advance(3 * second);
      by = 0;
      return result;
    },
    statusOf: async (id: string) => (await rpc(server, 'GetTask', { id })).status,
  };
}

describe.each([hour, 720 * hour])('once a clock was %i ms ahead for three seconds,', (ahead) => {
  const asking: Agent = async function* ({ text }) {
    yield text === 'ask' ? inputRequired('What?') : completed();
  };

  it('lists by status time have what changed since, and the task of then stays among them', async () => {
    const { clock, send, server, whileAhead } = stepping(asking, ahead);
    const early = await send('ask');
    const wrong = await whileAhead(() => send('ask'));
    await clock.advance(minute);
    const since = new Date(clock.now()).toISOString();
    const later = [await send('ask'), await send('go')];
    await send('go', { taskId: wrong });
    const { tasks } = await rpc(server, 'ListTasks', { statusTimestampAfter: since });
    expect(tasks.map(({ id }: { id: string }) => id).toSorted()).toEqual([wrong, ...later].toSorted());
    expect(tasks).not.toContainEqual(expect.objectContaining({ id: early }));
  });

  it('a callback that a task of then opens takes its value', async () => {
    let url = '';
    const agent: Agent = async function* ({ text, callback, callbacks }) {
      if (text === 'ask') return yield inputRequired('Go on?');
      if (callbacks.paid?.value !== undefined) return yield completed(String(callbacks.paid.value));
      yield working();
      url = (await callback({ name: 'paid', expiresMs: 10 * minute })).url;
    };
    const options = { callbacks: true, publicUrl: 'http://localhost/agent' };
    const { clock, send, server, whileAhead, statusOf } = stepping(agent, ahead, options);
    const id = await whileAhead(() => send('ask'));
    await send('go', { taskId: id });
    await clock.advance(minute);
    expect((await post(server, url, 7)).status).toBe(202);
    await clock.advance(2 * second);
    expect(await statusOf(id)).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
  });

  it('a turn that ran then goes on, and its lease is that of its process', async () => {
    const gate = Promise.withResolvers<void>();
    const agent: Agent = async function* () {
      yield working();
      await gate.promise;
      yield completed();
    };
    const { clock, send, store, whileAhead, statusOf } = stepping(agent, ahead, {
      timeouts: { leaseMs: 6 * second },
    });
    const id = await whileAhead(() => send('go'));
    const claim = { queue: 'agent', holder: 'other', ttlMs: minute, limit: 9 };
    for (let passed = 0; passed < 30; passed += 5) {
      expect(await store.claim(claim)).toEqual([]);
      await clock.advance(5 * second);
    }
    gate.resolve();
    await clock.advance(second);
    expect((await statusOf(id)).state).toBe('TASK_STATE_COMPLETED');
  });

  it('a task is woken in its time', async () => {
    const agent: Agent = async function* ({ woken, wakeAt }) {
      if (woken) return yield completed();
      yield working();
      await wakeAt(clock.now() + 30 * second);
    };
    const { clock, send, whileAhead, statusOf } = stepping(agent, ahead);
    await whileAhead(() => send('go'));
    const woken = await send('go');
    await clock.advance(40 * second);
    expect((await statusOf(woken)).state).toBe('TASK_STATE_COMPLETED');
  });

  it('a record that was deleted and made again is not taken for the one of then', async () => {
    const { store, whileAhead } = stepping(asking, ahead);
    const known = await whileAhead(() => store.putRecord('a', 0, 1));
    const next = await store.putRecord('a', known!, 2);
    expect(next).toBe(known! + 1);
    await store.deleteRecord('a');
    const again = await store.putRecord('a', 0, 3);
    for (const old of [known!, next!]) expect(await store.putRecord('a', old, 4)).toBeUndefined();
    expect(await store.putRecord('a', again!, 5)).toBeGreaterThan(again!);
  });

  it('old tasks are deleted again, and readers of those of then hear that they were deleted', async () => {
    const retention = { closedAfterMs: 10 * minute, everyMs: minute };
    const { clock, send, store, server, whileAhead, statusOf } = stepping(asking, ahead, { retention });
    const wrong = await whileAhead(() => send('go'));
    const right = await send('go');
    await clock.advance(13 * minute);
    await expect(statusOf(right)).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect((await statusOf(wrong)).state).toBe('TASK_STATE_COMPLETED');
    const deleted = server.prune({ closedBefore: clock.now() + 2 * ahead });
    await clock.advance(10);
    expect(await deleted).toBe(1);
    await expect(store.readFacts(scope, wrong, 1, 1, 'known')).rejects.toMatchObject({ code: 'LOG_DELETED' });
  });
});
