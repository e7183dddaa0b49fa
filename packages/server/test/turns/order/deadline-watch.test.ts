import type { Task } from '@batonjs/protocol';
import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, type AgentServerOptions, authRequired, working } from '../../../src/index.ts';

const minute = 60_000;
const codeOf = (task: Task) =>
  task.status.message?.parts.flatMap((part) =>
    'data' in part ? [(part.data as { code: string }).code] : [],
  )[0];

/** A task whose agent asks for an authorization, goes on when `granted`, and asks for one that never comes. */
async function asking(timeouts: AgentServerOptions['timeouts'], sleeps: number[] = []) {
  const [granted, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const agent: Agent = async function* () {
    yield authRequired('Log in');
    await granted.promise;
    yield working();
    await done.promise;
    yield authRequired('And there');
    await new Promise(() => {});
  };
  const clock = testClock();
  const sleep: typeof clock.sleep = (ms, signal, kind) => {
    if (ms >= minute && kind !== 'idle') sleeps.push(ms);
    return clock.sleep(ms, signal, kind);
  };
  const server = serve(agent, { clock: { ...clock, sleep }, timeouts });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  const now = (): Promise<Task> => rpc(server, 'GetTask', { id: task.id });
  return { clock, now, granted, done };
}

it.each([{}, { totalMs: 1_000 * minute }, { inactivityMs: 1_000 * minute }])(
  'a turn that waits for an authorization is ended when `interruptedMs` is over, with %j',
  async (clocks) => {
    const { clock, now } = await asking({ ...clocks, interruptedMs: 6 * minute });
    await clock.advance(6 * minute - 1);
    expect(codeOf(await now())).toBeUndefined();
    await clock.advance(1);
    expect(codeOf(await now())).toBe('DEADLINE_EXCEEDED');
  },
);

it('`interruptedMs` counts for each question again, and not while the agent works', async () => {
  const { clock, now, granted, done } = await asking({ interruptedMs: 6 * minute });
  await clock.advance(5 * minute);
  granted.resolve();
  await clock.advance(5 * minute);
  expect((await now()).status.state).toBe('TASK_STATE_WORKING');
  done.resolve();
  await clock.advance(5 * minute);
  expect((await now()).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  await clock.advance(minute);
  expect(codeOf(await now())).toBe('DEADLINE_EXCEEDED');
});

it('a turn waits for one moment at a time, whatever it waited for before', async () => {
  const sleeps: number[] = [];
  const { clock, granted } = await asking({ inactivityMs: 10 * minute, interruptedMs: 6 * minute }, sleeps);
  await clock.advance(2 * minute);
  granted.resolve();
  await clock.advance(9 * minute);
  // Until the question is over; then until the agent is silent for too long, although that came later.
  expect(sleeps).toEqual([10 * minute, 6 * minute, 6 * minute]);
});

it('a task whose time is over when its agent is called ends for that, and not for what the agent throws', async () => {
  let passed = 0;
  const store = change(memoryStore(), {
    commit: (commit) => (one) => {
      passed += 2 * minute;
      return commit(one);
    },
  });
  const agent: Agent = () => {
    throw new Error('Broken');
  };
  const clock = { now: () => Date.now() + passed };
  const server = serve(agent, { store, clock, timeouts: { inactivityMs: minute } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  expect(codeOf(task)).toBe('DEADLINE_EXCEEDED');
});
