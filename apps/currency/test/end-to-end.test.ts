import { type AgentClient, connect, conversation, statusMessageIsLast, textOf } from '@batonjs/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { sampleApp } from '../../../test/support/sample-app.ts';

const app = sampleApp('currency');

describe.each(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  let agent: AgentClient;
  beforeAll(async () => {
    agent = await connect(app.url, { binding });
    expect(agent.interface.protocolBinding).toBe(binding);
  });

  it('asks, and its question is the status and the last of exactly two messages [R-HIST-04]', async () => {
    const { task } = await agent.send('10美元等于多少?');
    expect(task?.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: '请指定要将USD兑换成哪种货币?' }] },
    });
    expect(task?.history).toMatchObject([
      { role: 'ROLE_USER', parts: [{ text: '10美元等于多少?' }] },
      { role: 'ROLE_AGENT', parts: [{ text: '请指定要将USD兑换成哪种货币?' }] },
    ]);
    expect(statusMessageIsLast(task!)).toBe(true);
    expect(await agent.getTask({ id: task!.id })).toEqual(task);
  });

  it('finishes with the answer what a killed process had asked', async () => {
    const { task: asking } = await agent.send('How much is 10 USD?');
    expect(asking?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await app.kill();
    await expect(agent.getTask({ id: asking!.id })).rejects.toThrow();
    await app.restart();

    expect(await agent.getTask({ id: asking!.id })).toEqual(asking);
    const { task } = await agent.send('EUR', { task: asking });
    expect(task).toMatchObject({ id: asking!.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(conversation(task!).map(textOf)).toEqual([
      'How much is 10 USD?',
      'Which currency should I convert USD to?',
      'EUR',
      '10 USD = 8.96 EUR',
    ]);
  });
});
