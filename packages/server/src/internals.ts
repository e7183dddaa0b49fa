/** For packages that read the tasks of a server from its store, such as the task gateway. May change in any release. */

export type { TransactionDatabase, TransactionKey } from './agent/transaction.ts';
export {
  telemetryOf,
  type WatchedBody,
  type WatchedRequest,
  type WatchedStart,
} from './base/hooks/request-watch.ts';
export { type ModelPrice, type ModelPrices, PriceTable } from './base/model-prices.ts';
export { differencesOf, peersOf } from './base/store/peers.ts';
export type { Owned } from './base/store/records.ts';
export { allRecords, changeRecord, ownersKind, recordName, shareQueue } from './base/store/records.ts';
export { versionsOf } from './base/store/versions.ts';
export { newId } from './base/system/new-id.ts';
export type { TaskTimeouts } from './base/timeouts.ts';
export { type Clock, isoTime, systemClock } from './base/timing/clock.ts';
export { isStoreId } from './base/token.ts';
export { callersOf, runsSince, together } from './log/ended/ended-runs.ts';
export { nextSnapshot } from './log/snapshot-policy.ts';
export { checkDecided } from './log/write/decision.ts';
export { derivedTaskId, labelOfSchedule as scheduleLabel } from './operations/accept/receive.ts';
export { scopeOf, taskNotFound } from './operations/call/call-context.ts';
export { heartbeatsOf, type Inside, insideOf } from './operations/call/inside-of.ts';
export { toWireError } from './operations/call/wire-error.ts';
export { ownerOf, prefixOfTask } from './turns/files/server-files.ts';
export { mapParts, storedIn } from './turns/files/stored-part.ts';
export { dueAt } from './turns/order/deadline-watch.ts';
export { orderFor } from './turns/order/schedule.ts';
export { wakeKeyOf } from './turns/order/wake-time.ts';
export { rotateCallbackKey, secretStep } from './turns/outside/callback-keys.ts';
export { type DayUsage, dailyUsage } from './turns/steps/day-usage.ts';
export { addressOptions } from './webhooks/address-policy/address-policy.ts';
