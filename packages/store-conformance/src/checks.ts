export { type Bench, type Check, type CheckOptions, type Opened, runCheck } from './bench/check.ts';
export { follow } from './bench/follow.ts';
export { taskStoreChecks } from './checks/task-store.ts';
export { pushConfigChecks } from './checks/webhooks/push-configs.ts';
