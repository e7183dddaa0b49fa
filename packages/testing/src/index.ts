export { type RunTurnOptions, runTurn, type TurnOutcome } from './run-turn.ts';
export { type TestClock, testClock } from './test-clock.ts';
