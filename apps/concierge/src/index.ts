export { concierge } from './agent.ts';
