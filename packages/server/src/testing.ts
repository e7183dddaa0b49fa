export { type RunTurnOptions, runTurn, type TurnOutcome } from './testing/run-turn.ts';
