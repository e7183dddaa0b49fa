export { foldLog, loadTask, mustFollow } from './load-task.ts';
export { type Commit, type Committed, type StoredFact, type StoredLog, StoreError } from './port/commit.ts';
export type { Lease, Scope, TaskName, TurnSchedule } from './port/lease.ts';
export type { Delivery, PushConfig, PushConfigStore } from './port/push-config-store.ts';
export type { RecordStore } from './port/record-store.ts';
export { type Answer, isPending, type QueueReading } from './port/rows.ts';
export type { ListedTask, Rate, TaskPage, TaskQuery, TaskStore, Unsubscribe } from './port/task-store.ts';
