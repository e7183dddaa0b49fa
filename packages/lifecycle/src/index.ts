export type { Command } from './decide/command.ts';
export { decide } from './decide/decide.ts';
export type { Conversation } from './facts/conversation.ts';
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
} from './facts/facts.ts';
export { labelProblem } from './facts/labels.ts';
export type { LogLine } from './facts/log-line.ts';
export type { QuestionLink } from './facts/question-link.ts';
export { canTransition, isInterrupted, isTerminal } from './facts/states.ts';
export type { ChildUpdate, MemoryUpdate, TaskUpdate } from './facts/task-update.ts';
export type { AgentRecord, Callback } from './state/agent-record.ts';
export { evolve, replay, UnknownFactError } from './state/evolve.ts';
export { type Head, headOf } from './state/head.ts';
export { fromSnapshot, type PlainState, type Snapshot, toSnapshot } from './state/snapshot.ts';
export type { ArtifactRecord, OpenTurn, State, StepFailures, TaskRecord } from './state/state.ts';
export { isMessageDue, nextTurnAt, stepOf } from './state/state.ts';
export type { StepResult, StepResults } from './state/step-results.ts';
export { historyOf, type TaskView, toStreamResponse, viewArtifact, viewTask } from './state/view.ts';
export { frozenJson } from './values/frozen-json.ts';
export type { List } from './values/list.ts';
