import { setTimeout as sleep } from 'node:timers/promises';
import { extend, skill, taskError, typedSkills } from '@batonjs/extensions';
import { artifact, completed, data, failed, working } from '@batonjs/server';
import { z } from 'zod';

const processExpense = skill({
  id: 'process-expense',
  name: 'Process an expense',
  description: 'Approves an expense above zero.',
  tags: ['expense'],
  input: z.object({ amount: z.number(), currency: z.string() }),
  output: z.object({ status: z.string(), message: z.string() }),
  async *run({ input: { amount, currency }, signal }) {
    yield working();
    if (amount <= 0) return yield failed({ code: 'INVALID_INPUT', message: 'Amount must be positive' });
    // Stands for work that takes a while.
    await sleep(1_000, undefined, { signal });
    yield artifact('result', data({ status: 'approved', message: `Processed ${amount} ${currency}` }));
    yield completed();
  },
});

/** The agent that handles tasks of the type `expense`, and its card. */
export const expenseAgent = extend(
  typedSkills({ name: 'ExpenseAgent', description: 'Processes expense reimbursements' }, processExpense),
  taskError,
);
