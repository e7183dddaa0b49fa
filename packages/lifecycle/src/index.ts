export type { Conversation } from './conversation.ts';
export { type Command, decide } from './decide.ts';
export { evolve, replay, UnknownFactError } from './evolve.ts';
export {
  type Answered,
  type ArtifactUpdated,
  type CancelRequested,
  type Child,
  type ChildUpdate,
  type ChildUpdated,
  changesGeneration,
  FACT_FORMAT,
  type Fact,
  type MessageReceived,
  type MessageTaken,
  type Metadata,
  type StatusChanged,
  type StepCompleted,
  type TaskCreated,
  type TaskUpdate,
  type TurnEnded,
  type TurnStarted,
  type WakeSet,
  type Woken,
} from './facts.ts';
export { frozenJson } from './frozen-json.ts';
export { type Head, headOf } from './head.ts';
export type { List } from './list.ts';
export { fromSnapshot, type PlainState, type Snapshot, toSnapshot } from './snapshot.ts';
export type { ArtifactRecord, OpenTurn, State, TaskRecord } from './state.ts';
export { isRipe, nextTurnAt } from './state.ts';
export { canTransition, isInterrupted, isTerminal } from './states.ts';
export { historyOf, type TaskView, toStreamResponse, viewArtifact, viewTask } from './view.ts';
