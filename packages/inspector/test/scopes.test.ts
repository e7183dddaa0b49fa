import { connect } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { Inspection } from '../src/inspection.ts';
import { readTask } from '../src/tasks/read-task.ts';
import { showAgent } from './show-agent.ts';

/** An agent with a task of Ada, one of Bob at the tenant `acme`, and one of no known caller. */
async function served() {
  const store = memoryStore();
  const server = closedAfterTest(
    createAgentServer({
      ...showAgent(async () => {}),
      name: 'show',
      store,
      logger: () => {},
      authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'nameless' }),
    }),
  );
  const send = async (caller: string, tenant?: string) => {
    const agent = await connect('http://show.localhost', {
      fetch: (request) => server.fetch(request),
      headers: { 'X-Caller': caller },
    });
    const { task } = (await agent.sendMessage({
      ...(tenant && { tenant }),
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'ask' }] },
    })) as { task: { id: string } };
    return task.id;
  };
  return { store, ada: await send('ada'), bob: await send('bob', 'acme') };
}

it('shows from a store the tasks of the callers and tenants that it was given, and of no others', async () => {
  const { store, ada, bob } = await served();
  const scopes = [{ caller: 'ada' }, { caller: 'bob', tenant: 'acme' }, { caller: 'bob' }, {}];
  const agent = new Inspection([{ store, name: 'show', callers: scopes }]).agent('show');
  expect(agent.store?.scopes.map(({ label }) => label)).toEqual([
    'ada',
    'bob at acme',
    'bob',
    'anonymous callers',
  ]);
  const ids = await Promise.all(
    scopes.map(async (_, scope) => (await agent.tasks.list({ scope })).tasks.map(({ id }) => id)),
  );
  expect(ids).toEqual([[ada], [bob], [], []]);
  expect(await readTask(agent, bob, 1)).toMatchObject({ id: bob });
  expect(await readTask(agent, bob, 0)).toBeUndefined();
  await expect(agent.tasks.list({ scope: 4 })).rejects.toThrow('There is no scope 4');
});
