export { approveExpense, card } from './agent.ts';
