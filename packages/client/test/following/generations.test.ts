import { connect } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { GENERATION } from '@batonjs/protocol/headers';
import { completed, createAgentServer, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureOf } from '../serve.ts';

/** An agent that waits to be let go, on a server in this process. */
function serve(preview: readonly '1.1'[] = ['1.1']) {
  const gate = Promise.withResolvers<void>();
  const server = createAgentServer({
    card: { name: 'Counter', description: 'Counts' },
    agent: async function* ({ text }) {
      yield working();
      if (text === 'ask') return yield inputRequired('Well?');
      await gate.promise;
      yield completed();
    },
    store: memoryStore(),
    compatibility: preview,
    logger: () => {},
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { server, letGo: gate.resolve };
}

describe('a client of an agent that counts', () => {
  it('waits for the next generation of a task [R-P11-14] [R-P11-16]', async () => {
    const { server, letGo } = serve();
    const agent = await connect('http://localhost', { fetch: server.fetch });
    const { task } = await agent.send('go', { returnImmediately: true });
    const handle = agent.task(task!);
    const second = await handle.next('1');
    expect(second).toMatchObject({ generation: '2', status: { state: 'TASK_STATE_WORKING' } });
    const third = handle.next(second.generation);
    letGo();
    expect(await third).toMatchObject({ generation: '3', status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await handle.next('3')).toMatchObject({ generation: '3' });
    expect(await handle.next()).toMatchObject({ generation: '3' });
  });

  it('sends on a condition, and is told that the task has changed [R-P11-05] [R-P11-16]', async () => {
    const { server } = serve();
    const agent = await connect('http://localhost', { fetch: server.fetch, extensions: [GENERATION] });
    const { task } = await agent.send('ask');
    expect(task?.generation).toBe('3');
    const answered = await agent.send('ask', { task: task!, configuration: { ifGenerationMatch: '3' } });
    expect(Number(answered.task?.generation)).toBeGreaterThan(3);
    const late = await failureOf(
      agent.send('ask', { task: task!, configuration: { ifGenerationMatch: '3' } }),
    );
    expect(late).toMatchObject({
      reason: 'TASK_GENERATION_MISMATCH',
      metadata: { expectedGeneration: '3', currentGeneration: answered.task!.generation },
    });
    const stream = agent.stream('ask', {
      task: task!,
      configuration: { ifGenerationMatch: answered.task!.generation! },
    });
    const { task: last } = await stream.result();
    expect(last?.generation).toBe((await agent.task(task!).next()).generation);
  });

  it('refuses conditions and waits that the agent would ignore [R-P11-37]', async () => {
    const { server } = serve([]);
    const agent = await connect('http://localhost', { fetch: server.fetch });
    const { task } = await agent.send('ask');
    for (const call of [
      () => agent.send('ask', { task: task!, configuration: { ifGenerationMatch: '3' } }),
      () => agent.stream('ask', { task: task!, configuration: { ifGenerationMatch: '3' } }).result(),
      () =>
        agent.sendMessage({
          message: { messageId: 'm', role: 'ROLE_USER', taskId: task!.id, parts: [{ text: 'ask' }] },
          configuration: { ifGenerationMatch: 3 },
        }),
      () => agent.task(task!).next('3'),
    ])
      expect(await failureOf(call())).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
    expect((await agent.getTask({ id: task!.id })).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('does not believe an agent that offers generations and sends none [R-P11-37]', async () => {
    const { server } = serve([]);
    const card: AgentCard = {
      ...server.card,
      capabilities: { ...server.card.capabilities, extensions: [{ uri: GENERATION }] },
      supportedInterfaces: [{ url: 'http://localhost', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    };
    const agent = await connect(card, { fetch: server.fetch });
    const { task } = await agent.send('ask');
    expect(await failureOf(agent.task(task!).next('1'))).toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
    });
  });

  it('reads the timeline, and asks no agent for it that would ignore it [R-P11-44]', async () => {
    const { server } = serve();
    const agent = await connect('http://localhost', { fetch: server.fetch });
    const { task } = await agent.send('ask');
    const { generation, timeline } = await agent.getTask({ id: task!.id, timelineLength: 2 });
    expect([generation, timeline?.map((entry) => entry.generation)]).toEqual(['3', ['2', '3']]);
    const configuration = { ifGenerationMatch: generation!, timelineLength: 1 };
    const answered = await agent.send('ask', { task: task!, configuration });
    expect(answered.task?.timeline).toHaveLength(1);
    expect((await agent.listTasks({ timelineLength: 0 })).tasks[0]).toMatchObject({
      generation: answered.task!.generation,
    });
    const plain = await connect('http://localhost', { fetch: serve([]).server.fetch });
    for (const call of [
      () => plain.listTasks({ timelineLength: 0 }),
      () => plain.send('ask', { configuration: { timelineLength: 1 } }),
    ])
      expect(await failureOf(call())).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });
});
