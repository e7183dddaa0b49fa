import { type AgentClient, connect, refine } from '@batonjs/client';
import { createAgentServer } from '@batonjs/server';
import { type Listening, listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleApp } from '../../../test/support/sample-app.ts';
import { card, designBoat } from '../src/index.ts';
import { decodePng } from './decode-png.ts';

const app = sampleApp('boat-designer');

describe.each(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  let agent: AgentClient;
  beforeAll(async () => {
    agent = await connect(app.url, { binding });
    expect(agent.interface.protocolBinding).toBe(binding);
  });

  it('draws a boat, then the same in red, as another artifact of the same name [R-REF-01, R-REF-04]', async () => {
    const { task: first } = await agent.send('Generate an image of a sailboat on the ocean.');
    const { task: second } = await agent.send('Please modify the sailboat to be red.', {
      references: [first!],
    });
    expect(second?.contextId).toBe(first?.contextId);
    expect(second?.id).not.toBe(first?.id);
    const [before, after] = [first, second].map((task) => task?.artifacts?.[0]);
    expect([before?.name, after?.name]).toEqual(['sailboat_image.png', 'sailboat_image.png']);
    expect(after?.artifactId).not.toBe(before?.artifactId);
    expect(after).toMatchObject({
      description: 'A generated image of a red sailboat on the ocean.',
      parts: [{ mediaType: 'image/png', filename: 'sailboat_image.png' }],
    });
    for (const artifact of [before, after]) {
      const [part] = artifact!.parts;
      const png = decodePng(Buffer.from('raw' in part! ? part.raw : '', 'base64'));
      expect([png.width, png.height]).toEqual([360, 240]);
    }
  });

  it('asks which of two boats is meant, and takes a reference to an artifact for an answer [R-REF-03]', async () => {
    const { task: first } = await agent.send('Draw a blue boat');
    const { contextId } = first!;
    await agent.send('Draw another boat', { contextId });
    const { task: asking } = await agent.send('Give it green sails', { contextId });
    expect(asking?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const { artifactId } = first!.artifacts![0]!;
    const answer = { text: 'This one', metadata: { taskId: first!.id, artifactId } };
    const { task } = await agent.send(answer, { task: asking });
    expect(task).toMatchObject({
      id: asking!.id,
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ description: 'A generated image of a blue sailboat with green sails on the ocean.' }],
    });
  });

  it('asks about references to tasks and artifacts that there are not [R-REF-02]', async () => {
    const { task: first } = await agent.send('Draw a boat');
    const version = { contextId: first!.contextId!, name: 'x', number: 1, taskId: first!.id };
    const artifact = { ...first!.artifacts![0]!, artifactId: 'elsewhere' };
    for (const sent of [
      agent.send('Make it red', { references: ['no-task'] }),
      agent.send(refine({ ...version, artifact }, 'Make it red')),
    ]) {
      const { task } = await sent;
      expect(task?.status).toMatchObject({
        state: 'TASK_STATE_INPUT_REQUIRED',
        message: { parts: [{ text: expect.stringMatching(/^I do not know (no-task|elsewhere)\./) }, {}] },
      });
    }
  });
});

describe("another caller's boat", () => {
  let server: Listening;
  const store = sqliteStore(':memory:');
  beforeAll(async () => {
    server = await listen(
      createAgentServer({
        card,
        agent: designBoat,
        store,
        authenticate: ({ headers }) => (headers.authorization ? { scope: headers.authorization } : undefined),
      }),
    );
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  it('is like one that does not exist: nothing of it is revealed [R-CTX-08]', async () => {
    const as = (authorization: string) => connect(server.url, { headers: { authorization } });
    const { task: anns } = await (await as('ann')).send('Draw a purple boat');
    const bob = await as('bob');
    for (const options of [{ references: [anns!] }, { contextId: anns!.contextId! }]) {
      const { task } = await bob.send('Make it red', options);
      expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(JSON.stringify(task)).not.toMatch(/purple/);
      expect(task?.status.message?.parts[1]).toEqual({ data: { candidates: [] } });
    }
  });
});
