export { approveExpense } from './agent.ts';
export { card } from './card.ts';
