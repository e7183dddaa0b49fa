export { type RunTurnOptions, runTurn, type TurnOutcome } from './run-turn.ts';
