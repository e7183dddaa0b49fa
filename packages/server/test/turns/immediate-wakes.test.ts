import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { frequentPolls } from '../../../../test/kit/frequent-polls.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type Agent, working } from '../../src/index.ts';

const configuration = { returnImmediately: true };

/** A server whose clock goes on to the next time that a task waits for, as soon as no turn of it runs. */
function withPassingTime(agent: Agent) {
  const time = { now: Date.UTC(2026, 0, 1) };
  const store = memoryStore({ now: () => time.now });
  const server = serve(agent, { store, clock: { ...frequentPolls(), now: () => time.now } });
  /** How long the task waits before each of its turns, as its facts say. */
  const waits = async (taskId: string) => {
    const facts = (await store.readFacts(scope, taskId, 0, 1_000)).map(({ fact }) => fact);
    return facts.flatMap((fact) =>
      fact.type === 'wake-set' && fact.time ? [Date.parse(fact.time) - Date.parse(fact.at)] : [],
    );
  };
  const pass = async (taskId: string) => {
    const due = (await store.load(scope, taskId))?.head.dueAt;
    if (due !== undefined) time.now = Math.max(time.now, Date.parse(due));
  };
  return { server, time, waits, pass };
}

describe('turns in a row that ask for a time that has come', () => {
  it('follow each other with pauses that grow to a minute', async () => {
    const { server, time, waits, pass } = withPassingTime(async function* ({ wakeAt }) {
      yield working();
      await wakeAt(time.now - 5);
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    await eventually(async () => {
      await pass(task.id);
      expect((await waits(task.id)).length).toBeGreaterThanOrEqual(9);
    });
    const seconds = [1, 2, 4, 8, 16, 32, 60, 60];
    expect((await waits(task.id)).slice(0, 9)).toEqual([-5, ...seconds.map((s) => s * 1_000)]);
  });

  it('begin again after a later time and after a message', async () => {
    let turns = 0;
    const { server, time, waits, pass } = withPassingTime(async function* ({ wakeAt }) {
      turns++;
      yield working();
      const later: Readonly<Record<number, number>> = { 3: 20, 6: 3_600_000 };
      await wakeAt(time.now + (later[turns] ?? 0));
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    const asked = [0, 1_000, 20, 0, 1_000, 3_600_000];
    await eventually(async () => {
      if (turns < 6) await pass(task.id);
      expect(await waits(task.id)).toEqual(asked);
    });
    await rpc(server, 'SendMessage', { message: say('more', { taskId: task.id }), configuration });
    await eventually(async () => expect((await waits(task.id)).slice(0, 7)).toEqual([...asked, 0]));
  });

  it('count one that asks twice once', async () => {
    const { server, time, waits, pass } = withPassingTime(async function* ({ wakeAt }) {
      yield working();
      await wakeAt(time.now);
      await wakeAt(time.now);
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    await eventually(async () => {
      await pass(task.id);
      expect((await waits(task.id)).length).toBeGreaterThanOrEqual(6);
    });
    expect((await waits(task.id)).slice(0, 6)).toEqual([0, 0, 1_000, 1_000, 2_000, 2_000]);
  });
});
