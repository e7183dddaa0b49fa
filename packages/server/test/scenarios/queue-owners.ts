import type { TaskStore } from '@batonjs/store';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { shareQueue } from '../../src/base/store/records.ts';
import { type AgentServerOptions, completed, inputRequired, taskAgent } from '../../src/index.ts';

const cardOf = (name: string) => ({ name, description: `The agent ${name}` });

/** An agent on a store, as another process has it: with a store object of its own. It counts its turns. */
function start(name: string, store: TaskStore, options: Partial<AgentServerOptions> = {}) {
  const lines: string[] = [];
  const counted = { turns: 0 };
  const agent = taskAgent(async function* ({ text }) {
    counted.turns += 1;
    yield text === 'ask' ? inputRequired('Which one?') : completed(`Done by ${name}`);
  });
  const server = serve(agent, {
    card: cardOf(name),
    store: { ...store },
    restart: 'rerun',
    logger: (level, message) => lines.push(`${level} ${message}`),
    ...options,
  });
  const isReady = () => server.ready();
  const send = async (text: string, message: object = {}) =>
    (await rpc(server, 'SendMessage', { message: say(text, message) })).task;
  return { server, lines, counted, isReady, send };
}

/** What a store remembers of the agents that use its queues, on any store. */
export function queueOwnerScenarios(newStore: () => TaskStore): void {
  it('an agent with another card does no work under the name of another agent, and says what to do', async () => {
    const store = newStore();
    const payments = start('Payments', store);
    const { id: taskId } = await payments.send('ask');
    await payments.server.close();

    const weather = start('Weather', store);
    expect(await weather.server.readiness()).toMatchObject({ isReady: false, reason: 'refused' });
    expect(weather.lines).toEqual([
      expect.stringMatching(
        /^error .*"agent".*"Payments".*"Weather".*`name` of its own.*`?baton tasks --store … --agent "agent" share --card "Weather"/,
      ),
    ]);
    await expect(weather.send('pay')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    await expect(rpc(weather.server, 'GetTask', { id: taskId })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
    });

    // A turn that no process runs: only Payments may claim it.
    const waiting = start('Payments', store, { run: 'workers' });
    const message = say('pay', { taskId });
    await rpc(waiting.server, 'SendMessage', { message, configuration: { returnImmediately: true } });
    expect(await weather.isReady()).toBe(false);
    const again = start('Payments', store);
    await until(again.server, taskId, 'COMPLETED');
    expect(weather.counted.turns).toBe(0);
  });

  it('an agent under a name of its own works beside others', async () => {
    const store = newStore();
    const agents = [start('Payments', store), start('Weather', store, { name: 'weather' })];
    for (const agent of agents) expect((await agent.send('go')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('an agent whose card got another name is known again once it was let in', async () => {
    const store = newStore();
    await start('Payments', store).send('go');
    expect(await start('Bills', store).isReady()).toBe(false);
    await shareQueue(store, 'agent', 'Bills');
    await shareQueue(store, 'agent', 'Bills');
    expect(await start('Bills', store).isReady()).toBe(true);
    expect(await start('Payments', store).isReady()).toBe(true);
    expect(await start('Weather', store).isReady()).toBe(false);
  });

  it('an agent is known by its public URL, and by its card at another URL, but not by a port of this machine', async () => {
    const store = newStore();
    const publicUrl = 'https://agents.example/payments';
    await start('Payments', store, { publicUrl }).send('go');
    expect(await start('Bills', store, { publicUrl: `${publicUrl}/` }).isReady()).toBe(true);
    expect(await start('Payments', store, { publicUrl: 'https://elsewhere.example' }).isReady()).toBe(true);
    expect(await start('Weather', store, { publicUrl: 'https://agents.example/weather' }).isReady()).toBe(
      false,
    );

    const other = newStore();
    const local = 'http://127.0.0.1:4000';
    await start('Payments', other, { publicUrl: local }).send('go');
    expect(await start('Weather', other, { publicUrl: local }).isReady()).toBe(false);
  });

  it('of agents that start at once under one name on an empty store, one gets it', async () => {
    const store = newStore();
    const agents = ['A', 'B', 'C', 'D'].map((name) => start(name, store));
    const ready = await Promise.all(agents.map((agent) => agent.isReady()));
    expect(ready.filter(Boolean)).toHaveLength(1);
  });
}
