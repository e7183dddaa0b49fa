export { tripPlanner } from './agent.ts';
export { quickAirline } from './airline.ts';
