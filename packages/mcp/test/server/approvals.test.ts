import { type Agent, completed, inputRequired } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { type Answers, mcpClient, serveAgent, serveMcp, textOf, versions } from '../clients.ts';

const card = {
  name: 'Shop',
  description: 'Sells',
  skills: [{ id: 'order', name: 'O', description: 'O', tags: [] }],
};

/** Asks for an approval as the agents of the AI SDK do, and says what it was answered. */
const shop: Agent = async function* ({ messages, text }) {
  const toolCalls = [{ toolCallId: 'c-1', toolName: 'pay', input: {}, needs: 'approval' }];
  if (messages.length === 1) yield inputRequired([{ text: 'May I pay?' }, { data: { toolCalls } }]);
  else yield completed(`Answered: ${text}`);
};

/** A host that called the tool, and the id of its task. */
async function host(
  options: { modelApproves?: boolean },
  version: (typeof versions)[number],
  answers?: Answers,
) {
  const { agent } = await serveAgent({ card, agent: shop });
  const { url } = await serveMcp(agent, options);
  const client = await mcpClient(url, version, answers);
  const call = async (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  return { agent, client, call };
}

describe.each(versions)('the model of a host that speaks %s', (version) => {
  it('cannot approve what only a user may, and the task goes on waiting', async () => {
    const { agent, call } = await host({}, version);
    const asking = await call('order', { message: 'Tea' });
    expect(textOf(asking as never)).toMatch(/^May I pay\?\n\nThe agent waits until the user approves\./);
    const { tasks } = await agent.listTasks({});
    const taskId = tasks[0]!.id;
    for (const answer of [{ answer: 'yes' }, { values: { 'c-1': true } }]) {
      const refused = await call('continue_task', { taskId, ...answer });
      expect(refused).toMatchObject({ isError: true });
      expect(textOf(refused as never)).toBe(
        "The agent asks for an approval, which is not the model's to give: the user gives it where the agent is used " +
          'otherwise. continue_task with the taskId alone waits for it.',
      );
    }
    expect((await agent.getTask({ id: taskId })).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    // What the model may do: give up.
    expect(textOf((await call('continue_task', { taskId, cancel: true })) as never)).toContain('canceled');
  });

  it('approves where it is allowed to', async () => {
    const { agent, call } = await host({ modelApproves: true }, version);
    await call('order', { message: 'Tea' });
    const { tasks } = await agent.listTasks({});
    const done = await call('continue_task', { taskId: tasks[0]!.id, answer: 'yes' });
    expect(textOf(done as never)).toBe('Answered: yes');
  });

  it('is answered with what the user says, whom the host asks instead', async () => {
    const { agent, client, call } = await host({}, version, [undefined, { answer: 'no' }]);
    await call('order', { message: 'Tea' });
    const { tasks } = await agent.listTasks({});
    const done = await call('continue_task', { taskId: tasks[0]!.id, answer: 'yes' });
    expect(textOf(done as never)).toBe('Answered: no');
    expect(client.asked.map(({ message }) => message)).toEqual(['May I pay?', 'May I pay?']);
  });
});
