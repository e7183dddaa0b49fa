/** For packages that read the tasks of a server from its store, such as the task gateway. May change in any release. */

export type { TransactionDatabase, TransactionKey } from './agent/transaction.ts';
export type { WatchedBody, WatchedRequest, WatchedStart } from './base/hooks/request-watch.ts';
export { telemetryOf } from './base/hooks/watched.ts';
export { differencesOf } from './base/store/peers.ts';
export { type Owned, ownersKind, shareQueue } from './base/store/queue-owners.ts';
export { allRecords, recordName } from './base/store/records.ts';
export { versionsOf } from './base/store/versions.ts';
export { newId } from './base/system/new-id.ts';
export type { TaskTimeouts } from './base/timeouts.ts';
export { type Clock, isoTime, systemClock } from './base/timing/clock.ts';
export { nextSnapshot } from './log/snapshot-policy.ts';
export { checkDecided } from './log/write/task-limits.ts';
export { derivedTaskId } from './operations/accept/derived-task-id.ts';
export { labelOfSchedule as scheduleLabel } from './operations/accept/receive.ts';
export { scopeOf } from './operations/call/call-context.ts';
export { heartbeatsOf, type Inside, insideOf } from './operations/call/inside-of.ts';
export { taskNotFound } from './operations/call/open-task.ts';
export { isStoreId } from './operations/call/page-token.ts';
export { toWireError } from './operations/call/wire-error.ts';
export { orderFor } from './turns/order/schedule.ts';
export { dueAt } from './turns/order/task-deadlines.ts';
export { wakeKeyOf } from './turns/order/wake-key.ts';
export { rotateCallbackKey } from './turns/outside/callback-keys.ts';
export { secretStep } from './turns/outside/idempotency-keys.ts';
export { addressOptions } from './webhooks/address-policy/address-policy.ts';
