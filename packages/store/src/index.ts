export { frozenJson } from '@batonjs/lifecycle';
export { weigh } from '@batonjs/lifecycle/internals';
export {
  admit,
  type Claimed,
  claimed,
  granted,
  leaseReading,
  mustHaveRoom,
  mustMakeSense,
  type Row,
} from './admit.ts';
export { type BucketAfter, type Rate, takenFrom } from './bucket.ts';
export { callSubscriber } from './call-subscriber.ts';
export { cutPage } from './cut-page.ts';
export { factsInOrder } from './facts-in-order.ts';
export { foldLog, loadTask } from './load-task.ts';
export { parseFact } from './parse-fact.ts';
export { pickTurns, TurnGate, type TurnPlace } from './pick-turns.ts';
export type {
  Delivery,
  DeliveryOutcome,
  PushConfig,
  PushConfigName,
  PushConfigStore,
} from './push-config-store.ts';
export { retentionLog } from './retention-log.ts';
export { steadyNow } from './steady-now.ts';
export { diverged, StoreError, type StoreErrorCode, type StoreTrouble } from './store-error.ts';
export type {
  ClaimRequest,
  Commit,
  Committed,
  Lease,
  LeaseReading,
  ListedTask,
  Scope,
  StoredFact,
  StoredLog,
  TaskPage,
  TaskQuery,
  TaskStore,
  Topic,
  TurnSchedule,
  Unsubscribe,
} from './task-store.ts';
