export { convertMoney } from './agent.ts';
export { card } from './card.ts';
