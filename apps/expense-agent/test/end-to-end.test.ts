import { type AgentClient, connect, dataOf, textOf } from '@batonjs/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { sampleApp } from '../../../test/support/sample-app.ts';

const app = sampleApp('expense-agent');

describe.each(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  let agent: AgentClient;
  beforeAll(async () => {
    agent = await connect(app.url, { binding });
    expect(agent.interface.protocolBinding).toBe(binding);
  });

  it.each<[string, Parameters<AgentClient['send']>[0]]>([
    ['data', [{ data: { amount: 100, currency: 'USD' } }]],
    ['text', '100 USD'],
  ])('approves an expense given as %s', async (_, said) => {
    const { task } = await agent.send(said);
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [
        { name: 'result', parts: [{ data: { status: 'approved', message: 'Processed 100 USD' } }] },
      ],
    });
    expect(await agent.getTask({ id: task!.id })).toEqual(task);
  });

  it('goes from SUBMITTED to WORKING to COMPLETED while it is watched', async () => {
    const seen: string[] = [];
    for await (const { task, statusUpdate, artifactUpdate } of agent.stream('100 USD')) {
      const status = task?.status ?? statusUpdate?.status;
      seen.push(
        status ? status.state.replace('TASK_STATE_', '') : `artifact ${artifactUpdate?.artifact.name}`,
      );
    }
    expect(seen).toEqual(['SUBMITTED', 'WORKING', 'artifact result', 'COMPLETED']);
  });

  it.each<[string, Parameters<AgentClient['send']>[0]]>([
    ['text', 'EUR'],
    ['data', [{ data: { currency: 'EUR' } }]],
  ])('asks for the missing fields, and finishes the same task with an answer of %s', async (_, answer) => {
    const { task: asking } = await agent.send([{ data: { amount: 20 } }]);
    expect(asking?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(asking?.status.message)).toMatch(/currency/);
    const { task } = await agent.send(answer, { task: asking });
    expect(task).toMatchObject({ id: asking!.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(dataOf(task?.artifacts?.[0])).toEqual({ status: 'approved', message: 'Processed 20 EUR' });
  });

  it('fails an amount that is not positive, for people and for programs', async () => {
    const { task } = await agent.send('0 USD');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task?.status.message)).toBe('Amount must be positive');
    expect(dataOf(task?.status.message)).toEqual({
      code: 'INVALID_INPUT',
      message: 'Amount must be positive',
    });
  });
});
