export { frozenJson } from '@batonjs/lifecycle/internals';
export { remember } from '@batonjs/protocol/bounded-map';
export { Group, type Grouped } from './adapter/calls/group.ts';
export { ComparedChanges, KeyQueues } from './adapter/compared-changes.ts';
export { completeOptions } from './adapter/complete-options.ts';
export { createStore } from './adapter/create-store.ts';
export { cutPage } from './adapter/cut-page.ts';
export { DatabaseClock } from './adapter/known/database-clock.ts';
export { Known, KnownTasks } from './adapter/known/known-tasks.ts';
export { type KeptFacts, type KeptLog, parseFact, type Rows } from './adapter/rows.ts';
export { search } from './adapter/search.ts';
export { Subscribers } from './adapter/subscribers.ts';
export { type Layouts, stepsFrom } from './layout.ts';
export type { RecordRow, TaskRow, WebhookRow } from './port/rows.ts';
export { type Notification, type Topic, topicNumber } from './port/task-store.ts';
export {
  type CallerRow,
  type Change,
  changedRow,
  type Found,
  type FoundTask,
  type QueueRow,
  type Replaced,
  type Step,
  type TaskWrite,
  type Wanted,
} from './rules/change.ts';
export { type ListSearch, listed } from './rules/list.ts';
export type { Moment } from './rules/moment.ts';
export { steadyNow } from './steady-now.ts';
