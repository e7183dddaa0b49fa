import { connect } from '@batonjs/client';
import { createAgentServer, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { Inspection } from '../../src/inspection.ts';

const hourMs = 3_600_000;

/** An agent whose questions were given to people, and the rows of its tasks. */
async function asked() {
  const store = memoryStore();
  const read = { logs: 0 };
  const { readFacts } = store;
  store.readFacts = (...given) => {
    if (given[3] !== 1) read.logs += 1;
    return readFacts.apply(store, given);
  };
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Asker', description: 'Asks' },
      publicUrl: 'http://asker.test',
      callbacks: true,
      store,
      logger: () => {},
      async *agent({ callback, text }) {
        yield working();
        if (text === 'boss') await callback({ answeredBy: 'Boss', expiresMs: hourMs });
        yield inputRequired('Well?');
      },
    }),
  );
  const client = await connect('http://asker.test', { fetch: server.fetch });
  const { tasks } = new Inspection([{ server }]).agents[0]!;
  const send = async (text: string, taskId?: string) =>
    (await client.send(text, taskId === undefined ? {} : { task: taskId })).task!.id;
  const names = async () =>
    (await tasks.list({})).tasks.map(({ title, assignees = [] }) => [title, assignees.map(({ by }) => by)]);
  return { server, send, names, tasks, read };
}

it('a row says who has its question: whom the agent chose, and whom operators chose since', async () => {
  const { server, send, names, tasks, read } = await asked();
  await send('plain');
  const id = await send('boss');
  expect(await names()).toEqual([
    ['boss', ['Boss']],
    ['plain', []],
  ]);
  expect(read.logs).toBe(2);
  for (const answeredBy of ['Ana', 'Boss', 'Ana'])
    await server.answerLink(id, { answeredBy, expiresMs: 2 * hourMs, assignedBy: 'me' });
  expect((await names())[0]).toEqual(['boss', ['Boss', 'Ana']]);
  expect(read.logs).toBe(3);
  await names();
  expect(read.logs).toBe(3);
  const [row] = (await tasks.list({})).tasks;
  expect(Date.parse(row!.assignees![0]!.expiresAt)).toBeGreaterThan(Date.now() + hourMs);
  await send('an answer', id);
  expect((await names())[0]).toEqual(['boss', []]);
});
