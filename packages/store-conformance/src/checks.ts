export { type Bench, type Check, type CheckOptions, type Opened, runCheck } from './bench/check.ts';
export { taskStoreChecks } from './checks/task-store.ts';
export { pushConfigChecks } from './checks/webhooks/push-configs.ts';
