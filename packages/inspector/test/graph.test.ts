import { connect } from '@batonjs/client';
import { completed, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { taskPicture } from '../src/graph/task-picture.ts';
import { Inspection } from '../src/inspection.ts';

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
