export { tripPlanner } from './agent.ts';
export { card } from './card.ts';
