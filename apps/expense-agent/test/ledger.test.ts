import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runTurn } from '@batonjs/testing';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { expenseAgent } from '../src/agent.ts';
import { fileLedger } from '../src/ledger.ts';

it('books an expense once, also where its process died before it wrote that down', async () => {
  const path = join(temporaryFolder(), 'data', 'expenses.db');
  const ledger = fileLedger(path);
  onTestFinished(() => ledger.close());
  const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: '100 USD' }] };
  for (const attempt of [1, 2]) {
    const { agent } = expenseAgent(ledger);
    const { updates } = await runTurn(agent, message, { attempt });
    expect(updates.at(-1)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  }
  const file = new DatabaseSync(path);
  onTestFinished(() => file.close());
  expect(file.prepare('select amount, currency from expenses').all()).toEqual([
    { amount: 100, currency: 'USD' },
  ]);
});
