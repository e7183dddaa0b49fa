export { frozenJson } from '@batonjs/lifecycle';
export { weigh } from '@batonjs/lifecycle/internals';
export { Group, type Grouped, type GroupOptions } from './adapter/calls/group.ts';
export { createStore } from './adapter/create-store.ts';
export { cutPage } from './adapter/cut-page.ts';
export { DatabaseClock } from './adapter/known/database-clock.ts';
export { KnownTasks, noTask } from './adapter/known/known-tasks.ts';
export { listedFact, parseFact } from './adapter/parse-fact.ts';
export type { KeptFacts, KeptLog, Parts, Rows, TextSearch } from './adapter/rows.ts';
export { type AllRows, search } from './adapter/search.ts';
export {
  recordOfSql,
  type SqlColumn,
  type SqlType,
  sqlRecordColumns,
  sqlTaskColumns,
  sqlWebhookColumns,
  taskOfSql,
  webhookOfSql,
} from './adapter/sql-columns.ts';
export { callSubscriber, Subscribers } from './adapter/subscribers.ts';
export { mustKnowOptions } from './adapter/unknown-options.ts';
export { wordsOf } from './adapter/words.ts';
export { foldLog, loadTask, mustFollow } from './load-task.ts';
export { type Answer, isPending, whenAnswered } from './port/answer.ts';
export type { Commit, Committed, StoredFact, StoredLog } from './port/commit.ts';
export type { ClaimRequest, Lease, LeaseReading, TurnSchedule } from './port/lease.ts';
export type { ListedTask, TaskFilter, TaskPage, TaskQuery } from './port/list.ts';
export type { Scope, TaskName } from './port/names.ts';
export type {
  Delivery,
  DeliveryOutcome,
  DeliveryRequest,
  NewPushConfig,
  PushConfig,
  PushConfigName,
  PushConfigStore,
} from './port/push-config-store.ts';
export type { QueueReading } from './port/queue-reading.ts';
export type { Rate } from './port/rate.ts';
export type { RecordOptions, RecordQuery, RecordStore, StoredRecord } from './port/record-store.ts';
export { otherLayout, StoreError, type StoreErrorCode, type StoreTrouble } from './port/store-error.ts';
export type { Notification, TaskStore, Topic, Unsubscribe } from './port/task-store.ts';
export { topicNumber } from './port/topic-number.ts';
export { takenFrom } from './rules/bucket.ts';
export {
  type CallerRow,
  type Change,
  changedRow,
  changeOf,
  type Found,
  type FoundTask,
  forgottenTurns,
  guessed,
  isIdle,
  type QueueRow,
  type Replaced,
  type Step,
  type Tally,
  type TaskWrite,
  type WaitingCaller,
  type Wanted,
  type WantedTask,
} from './rules/change.ts';
export { claimed } from './rules/claim.ts';
export { admit, factsInOrder, granted } from './rules/commit.ts';
export {
  isListed,
  isListedAlike,
  type ListPlace,
  type ListSearch,
  listed,
  listPlace,
  newestFirst,
  statesOf,
  termsOf,
} from './rules/list.ts';
export type { Moment } from './rules/moment.ts';
export { deletionOf, deletionsOf, remembered } from './rules/prune.ts';
export type { RecordRow } from './rules/record-row.ts';
export {
  askingStates,
  contextOf,
  isAsking,
  isPutOff,
  putOff,
  stateOf,
  type TaskRow,
  tallyOf,
} from './rules/task-row.ts';
export type { TurnPlace } from './rules/turn-order.ts';
export { byName, type WebhookRow } from './rules/webhook-row.ts';
export { steadyNow } from './steady-now.ts';
