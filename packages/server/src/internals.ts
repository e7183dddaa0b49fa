/** For packages that read the tasks of a server from its store, such as the task gateway. May change in any release. */

export type { TransactionDatabase, TransactionKey } from './agent/transaction.ts';
export type { WatchedBody, WatchedRequest, WatchedStart } from './base/hooks/request-watch.ts';
export { telemetryOf } from './base/hooks/watched.ts';
export { differencesOf } from './base/store/peers.ts';
export { isKnownQueue, type KnownQueue, knownQueues } from './base/store/queue-owners.ts';
export { type Stranded, versionsOf } from './base/store/versions.ts';
export { derivedTaskId } from './operations/accept/derived-task-id.ts';
export { labelOfSchedule as scheduleLabel } from './operations/accept/receive.ts';
export type {
  BulkAction,
  BulkOutcome,
  BulkPace,
  BulkProgress,
  BulkRequest,
  BulkSource,
} from './operations/bulk/bulk.ts';
export { type BulkRun, bulkRuns } from './operations/bulk/bulk-record.ts';
export { bulkTasks } from './operations/bulk/bulk-tasks.ts';
export { scopeOf } from './operations/call/call-context.ts';
export { type Inside, insideOf } from './operations/call/inside-of.ts';
export { eraseStored } from './operations/erase/erase-stored.ts';
export { type ForkRequest, type ForkSource, forkStored } from './operations/fork/fork-stored.ts';
export { wakeKeyOf } from './turns/order/wake-key.ts';
export { rotateCallbackKey } from './turns/outside/callback-keys.ts';
