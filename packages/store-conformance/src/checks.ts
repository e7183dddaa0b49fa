export { type Bench, type Check, type CheckOptions, type Opened, runCheck } from './check.ts';
export { pushConfigChecks } from './checks/push-configs.ts';
export { taskStoreChecks } from './checks/task-store.ts';
