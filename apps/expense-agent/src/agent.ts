import { type Agent, artifact, completed, data, failed, inputRequired, working } from '@batonjs/server';
import { isComplete, questionAbout, readExpense } from './expense.ts';

/** Approves an expense, told as `{ amount, currency }` or in words such as "100 USD", at once or bit by bit. */
export const approveExpense: Agent = async function* ({ messages }) {
  const expense = readExpense(messages);
  if (!isComplete(expense)) return yield inputRequired(questionAbout(expense));

  const { amount, currency } = expense;
  yield working(`Checking ${amount} ${currency}`);
  if (amount <= 0) return yield failed({ code: 'INVALID_INPUT', message: 'Amount must be positive' });

  yield artifact('result', data({ status: 'approved', message: `Processed ${amount} ${currency}` }));
  yield completed();
};
