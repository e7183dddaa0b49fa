export type { DifferenceKind, ReplayDifference } from './replay/attempt-replay.ts';
export type { Comparison } from './replay/compare-facts.ts';
export { recordTask, type TaskRecording } from './replay/recording.ts';
export { type Replayed, type ReplayOptions, replayTask } from './replay/replay-task.ts';
export { type RunTurnOptions, runTurn, type TurnOutcome } from './run-turn.ts';
export { type TestClock, testClock } from './test-clock.ts';
