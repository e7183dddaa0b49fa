import {
  extend,
  formInput,
  progress,
  skill,
  taskError,
  taskProgress,
  typedSkills,
} from '@batonjs/extensions';
import { artifact, completed, data, failed, working } from '@batonjs/server';
import { z } from 'zod';
import { about, approval } from './card.ts';
import { questionAbout, readExpense } from './expense.ts';
import { type Ledger, noLedger } from './ledger.ts';

/** Approves an expense. The client sends `{ amount, currency }` or words such as "100 USD", in one message or in several. */
const approve = (record: Ledger) =>
  skill({
    ...approval,
    input: z.object({ amount: z.number(), currency: z.string().length(3) }),
    output: z.object({ status: z.literal('approved'), message: z.string() }),
    invalidInput: 'ask',
    read: ({ messages }) => readExpense(messages),
    question: questionAbout,
    async *run(turn) {
      const { amount, currency } = turn.input;
      yield working(`Checking ${amount} ${currency}`, progress(1, 2));
      if (amount <= 0) return yield failed({ code: 'INVALID_INPUT', message: 'Amount must be positive' });

      const failure = await record({ amount, currency }, turn);
      if (failure) return yield failed(failure);
      yield artifact('result', data({ status: 'approved', message: `Processed ${amount} ${currency}` }));
      yield completed();
    },
  });

/** The expense agent and its card. `record` keeps approved expenses; by default none is kept. */
export const expenseAgent = (record: Ledger = noLedger) =>
  extend(typedSkills(about, approve(record)), formInput, taskProgress, taskError);

/** The expense agent without a ledger, and its card. */
export const { agent: approveExpense, card } = expenseAgent();
