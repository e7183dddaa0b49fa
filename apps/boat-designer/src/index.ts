export { designBoat } from './agent.ts';
export { card } from './card.ts';
