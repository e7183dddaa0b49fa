export type { Command } from './command.ts';
export type { Conversation } from './conversation.ts';
export { decide } from './decide.ts';
export { evolve, replay, UnknownFactError } from './evolve.ts';
export {
  type Answered,
  type ArtifactUpdated,
  type CallbackOpened,
  type CallbackReceived,
  type CancelRequested,
  type Child,
  type ChildUpdated,
  changesGeneration,
  FACT_FORMAT,
  type Fact,
  type LabelsSet,
  type MemoryChanged,
  type MessageReceived,
  type MessageTaken,
  type Metadata,
  type StatusChanged,
  type StepCompleted,
  type StepFailed,
  type TaskCreated,
  type TurnEnded,
  type TurnFailed,
  type TurnLogged,
  type TurnPaused,
  type TurnStarted,
  type WakeSet,
  type Woken,
} from './facts.ts';
export { type Head, headOf } from './head.ts';
export type { Callback, Kept } from './kept/kept.ts';
export type { LogLine } from './kept/log-line.ts';
export type { QuestionLink } from './kept/question-link.ts';
export { labelProblem } from './labels.ts';
export { fromSnapshot, type PlainState, type Snapshot, toSnapshot } from './snapshot.ts';
export type { ArtifactRecord, OpenTurn, State, StepFailures, TaskRecord } from './state.ts';
export { isRipe, nextTurnAt, stepOf } from './state.ts';
export { canTransition, isInterrupted, isTerminal } from './states.ts';
export type { ChildUpdate, MemoryUpdate, TaskUpdate } from './task-update.ts';
export type { StepResult, StepResults } from './turns/step-results.ts';
export { frozenJson } from './values/frozen-json.ts';
export type { List } from './values/list.ts';
export { historyOf, type TaskView, toStreamResponse, viewArtifact, viewTask } from './view.ts';
