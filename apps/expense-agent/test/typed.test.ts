import { answer, connect, dataOf } from '@batonjs/client';
import {
  callSkill,
  errorOf,
  FORM_INPUT,
  formOf,
  progressOf,
  TASK_ERROR,
  TASK_PROGRESS,
} from '@batonjs/extensions/client';
import { createAgentServer } from '@batonjs/server';
import { type Listening, listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/kit/processes.ts';
import { expenseAgent } from '../src/agent.ts';
import { httpLedger, type Ledger } from '../src/ledger.ts';

let serving: Listening | undefined;
const store = sqliteStore(':memory:');
afterEach(() => serving?.close());

/** A client of the agent, with all its extensions. */
async function agentWith(binding: string, record?: Ledger, inactivityMs?: number) {
  const server = createAgentServer({
    ...expenseAgent(record),
    store,
    timeouts: { inactivityMs },
    logger: () => {},
  });
  serving = await listen(server);
  return connect(serving.url, { binding, extensions: [FORM_INPUT, TASK_ERROR, TASK_PROGRESS] });
}

describe.each(['JSONRPC', 'HTTP+JSON'])('the typed expense agent over %s', (binding) => {
  it('has a schema, and reports its progress', async () => {
    const agent = await agentWith(binding);
    expect((await callSkill(agent, 'approve-expense', { amount: 100, currency: 'USD' })).output).toEqual({
      status: 'approved',
      message: 'Processed 100 USD',
    });
    const seen = [];
    for await (const event of agent.stream('100 USD')) seen.push(progressOf(event));
    expect(seen).toContainEqual({ progress: 1, total: 2 });
  });

  it('asks with a form that knows what was said, and again if it is filled in wrongly', async () => {
    const agent = await agentWith(binding);
    const { task: asking } = await agent.send('20');
    expect(formOf(asking!)).toMatchObject({
      initial: { amount: 20 },
      schema: { required: ['amount', 'currency'] },
    });
    const { task: again } = await agent.send(answer(asking!, { amount: 'much', colour: 'red' }));
    expect(Object.keys(formOf(again!)?.errors ?? {}).sort()).toEqual(['', 'amount', 'currency']);
    const { task } = await agent.send(answer(again!, { amount: 20, currency: 'EUR' }));
    expect(dataOf(task?.artifacts?.[0])).toEqual({ status: 'approved', message: 'Processed 20 EUR' });
  });

  it('fails for reasons that programs can distinguish: logic, communication, timeout', async () => {
    const logic = await (await agentWith(binding)).send('-5 USD');
    expect(errorOf(logic.task!)).toEqual({ code: 'INVALID_INPUT', message: 'Amount must be positive' });
    await serving?.close();
    const gone = httpLedger(`http://127.0.0.1:${await freePort()}`);
    const communication = await (await agentWith(binding, gone)).send('5 USD');
    expect(errorOf(communication.task!)).toMatchObject({ code: 'LEDGER_UNAVAILABLE', retryable: true });
    await serving?.close();
    const timeout = await (await agentWith(binding, () => new Promise(() => {}), 50)).send('5 USD');
    expect(errorOf(timeout.task!)).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });
});
