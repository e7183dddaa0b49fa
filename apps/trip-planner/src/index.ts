export { tripPlanner } from './agent.ts';
