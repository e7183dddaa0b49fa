import type { Task } from '@batonjs/protocol';
import { expect, it } from 'vitest';
import { passableClock } from '../../../../../test/kit/passable-clock.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { until } from '../../../../../test/kit/until.ts';
import { type Agent, type AgentServerOptions, authRequired, working } from '../../../src/index.ts';

const minute = 60_000;
const codeOf = (task: Task) =>
  task.status.message?.parts.flatMap((part) =>
    'data' in part ? [(part.data as { code: string }).code] : [],
  )[0];

/** A task whose agent asks for an authorization, goes on when `granted`, and asks for one that never comes. */
async function asking(clocks: AgentServerOptions['clocks']) {
  const [granted, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const agent: Agent = async function* () {
    yield authRequired('Log in');
    await granted.promise;
    yield working();
    await done.promise;
    yield authRequired('And there');
    await new Promise(() => {});
  };
  const { clock, pass } = passableClock();
  const server = serve(agent, { clock, clocks });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  return { server, id: task.id as string, pass, granted, done };
}

it.each([{}, { totalMs: 1_000 * minute }, { inactivityMs: 1_000 * minute }])(
  'a turn that waits for an authorization is ended when `interruptedMs` is over, with %j',
  async (clocks) => {
    const { server, id, pass } = await asking({ ...clocks, interruptedMs: 60 * minute });
    pass(61 * minute);
    expect(codeOf(await until(server, id, 'FAILED'))).toBe('DEADLINE_EXCEEDED');
  },
);

it('`interruptedMs` counts for each question anew, and not while the agent works', async () => {
  const { server, id, pass, granted, done } = await asking({ interruptedMs: 60 * minute });
  pass(59 * minute);
  granted.resolve();
  await until(server, id, 'WORKING');
  pass(59 * minute);
  done.resolve();
  await until(server, id, 'AUTH_REQUIRED');
  pass(59 * minute);
  expect((await rpc(server, 'GetTask', { id })).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  pass(2 * minute);
  expect(codeOf(await until(server, id, 'FAILED'))).toBe('DEADLINE_EXCEEDED');
});
