export {
  type DayUsage,
  dailyUsage,
  differencesOf,
  rotateCallbackKey,
  shareQueue,
  versionsOf,
} from '@batonjs/server/internals';
export type * from './bulk/bulk.ts';
export { type BulkRun, bulkRuns } from './bulk/bulk-record.ts';
export { type BulkOptions, bulkTasks } from './bulk-tasks.ts';
export { type CallerScope, callerScope, knownCallers, mostCallers } from './callers.ts';
export { type EraseOptions, type Erasure, eraseTasks } from './erase-tasks.ts';
export { type ForkOptions, forkTask } from './fork-task.ts';
export type { Operated, StoredAgent } from './operated.ts';
export { isKnownQueue, type KnownQueue, knownQueues } from './queues.ts';
