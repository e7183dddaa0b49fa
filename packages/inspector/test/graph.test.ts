import { connect } from '@batonjs/client';
import { completed, createAgentServer, type Message } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { linksOf } from '../src/graph/task-links.ts';
import { taskPicture } from '../src/graph/task-picture.ts';
import { Inspection } from '../src/inspection.ts';

const tree = 'https://batonjs.dev/extensions/task-tree/v1';
const status = { state: 'TASK_STATE_WORKING' } as const;
const message = (more: Partial<Message>): Message => ({
  messageId: 'm',
  role: 'ROLE_USER',
  parts: [{ text: 'Go' }],
  ...more,
});

it('reads references, children and parents from a task, wherever they stand, each once', () => {
  const task = {
    id: 't',
    contextId: 'c',
    status: { ...status, message: message({ metadata: { remoteTask: { agent: 'far', taskId: 'r' } } }) },
    history: [
      message({ referenceTaskIds: ['a', 'b', 't'] }),
      message({ referenceTaskIds: ['a'], metadata: { [tree]: { parent: { taskId: 'p', name: 'x' } } } }),
    ],
    metadata: {
      [tree]: {
        children: [
          { name: 'one', agent: 'Far', taskId: 'k' },
          { name: 'two', agent: 'Far' },
        ],
      },
    },
  };
  expect(linksOf(task)).toEqual([
    { kind: 'reference', taskId: 'a' },
    { kind: 'reference', taskId: 'b' },
    { kind: 'child', taskId: 'k', agent: 'Far' },
    { kind: 'parent', taskId: 'p' },
    { kind: 'child', taskId: 'r', agent: 'far' },
  ]);
});

it('draws tasks that refer to each other in a circle, and leaves out what cannot be read', async () => {
  const store = memoryStore();
  const server = closedAfterTest(
    createAgentServer({
      name: 'self',
      card: { name: 'Self', description: 'Refers' },
      store,
      logger: () => {},
      agent: async function* () {
        yield completed();
      },
    }),
  );
  const agent = await connect('http://self.localhost', { fetch: (request) => server.fetch(request) });
  const { task: first } = await agent.send({ parts: [{ text: 'one' }], referenceTaskIds: ['gone'] });
  const { task: second } = await agent.send('two', { references: [first!] });
  const inspection = new Inspection([{ server }]);
  const exhibit = inspection.agent('self');
  const { nodes, edges } = await taskPicture(exhibit, exhibit.tasks, inspection.agents, {
    contextId: first!.contextId!,
  });
  expect(nodes.map(({ id }) => id).sort()).toEqual([first!.id, second!.id].sort());
  expect(edges).toEqual([{ from: first!.id, to: second!.id, kind: 'reference' }]);
});
