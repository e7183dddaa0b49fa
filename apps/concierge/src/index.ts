export { concierge } from './agent.ts';
export { card } from './card.ts';
