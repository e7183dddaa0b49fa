import type { TaskStore } from '@batonjs/store';
import { expect, it } from 'vitest';
import { change, switchable } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { type Agent, completed, inputRequired, working } from '../../src/index.ts';

/** What becomes of turns whose process died, or was late. `newStore` makes an empty store; the caller closes it. */
export function recoveryScenarios(newStore: () => TaskStore): void {
  const configuration = { returnImmediately: true };
  const serve = serveWith({ restart: 'rerun', timeouts: { storeMs: 2_000 } });

  it('a turn that died between two steps goes on, and does not keep the only place of its caller', async () => {
    const store = newStore();
    const steps: string[] = [];
    const agent: Agent = async function* ({ text, step, attempt }) {
      yield working();
      await step('first', () => void steps.push(`${text}: first in attempt ${attempt}`));
      if (text === 'one' && attempt === 1) await new Promise(() => {});
      await step('second', () => void steps.push(`${text}: second in attempt ${attempt}`));
      yield completed();
    };
    const schedule = { concurrency: 1, perCaller: 1 };
    const dying = switchable(store);
    const dead = serve(agent, { store: dying.store, queue: schedule, timeouts: { leaseMs: 1_000 } });
    const send = async (server: typeof dead, text: string): Promise<string> =>
      (await rpc(server, 'SendMessage', { message: say(text), configuration })).task.id;
    const one = await send(dead, 'one');
    const untilStored = async () =>
      expect((await store.readFacts(scope, one, 0, 100)).map(({ fact }) => fact.type)).toContain(
        'step-completed',
      );
    await eventually(untilStored);
    dying.isDown = true;
    const next = serve(agent, { store, queue: schedule });
    const two = await send(next, 'two');
    for (const id of [one, two]) await until(next, id, 'COMPLETED');
    expect(steps).toEqual([
      'one: first in attempt 1',
      'one: second in attempt 2',
      'two: first in attempt 1',
      'two: second in attempt 1',
    ]);
  });

  it('a process that hears late that it may have a task runs nothing once another one had it', async () => {
    const store = newStore();
    const runs: [process: string, fence: number][] = [];
    const agentOf = (process: string): Agent =>
      async function* ({ fence, text }) {
        runs.push([process, fence]);
        yield text === 'go' ? inputRequired('Sure?') : completed();
      };
    const front = serve(agentOf('front'), { store, run: 'workers' });
    const claimed = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const late = change(store, {
      claim: (claim) => async (request) => {
        const leases = await claim(request);
        if (leases.length > 0) {
          claimed.resolve();
          await gate.promise;
        }
        return leases;
      },
    });
    serve(agentOf('late'), { store: late, timeouts: { leaseMs: 1_000, storeMs: 60_000 } });
    const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration });
    await claimed.promise;
    const other = serve(agentOf('other'), { store });
    await until(front, task.id, 'INPUT_REQUIRED');
    await other.close();
    const message = say('yes', { taskId: task.id });
    await rpc(front, 'SendMessage', { message, configuration });
    gate.resolve();
    await until(front, task.id, 'COMPLETED');
    expect(runs).toEqual([
      ['other', 2],
      ['late', 3],
    ]);
  });
}
