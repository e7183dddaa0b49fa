export type { Command } from './decide/command.ts';
export { decide } from './decide/decide.ts';
export { costsWith, usedTogether } from './facts/costs.ts';
export type { LogLine } from './facts/facts.ts';
export {
  type Child,
  FACT_FORMAT,
  type Fact,
  type FactOf,
  type MessageReceived,
  type Metadata,
  type Usage,
} from './facts/facts.ts';
export { labelProblem } from './facts/labels.ts';
export type { QuestionLink } from './facts/question-link.ts';
export { canTransition, isInterrupted, isTerminal } from './facts/states.ts';
export type { ChildUpdate, TaskUpdate } from './facts/task-update.ts';
export type { Callback } from './state/agent-record.ts';
export { evolve, replay, UnknownFactError } from './state/evolve.ts';
export { type Head, headOf } from './state/head.ts';
export { fromSnapshot, type Snapshot, toSnapshot } from './state/snapshot.ts';
export { nextTurnAt, type State, type StepFailures, type StepResult, stepOf } from './state/state.ts';
export {
  changesGeneration,
  generationOf,
  historyOf,
  type TaskView,
  Timeline,
  toStreamResponse,
  viewTask,
} from './state/view.ts';
