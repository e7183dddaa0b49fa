export { taskStoreChecks } from './checks/task-store.ts';
export { pushConfigChecks } from './checks/webhooks/push-configs.ts';
export { type Check, type CheckOptions, type Fixture, type Opened, runCheck } from './fixture/check.ts';
export { follow } from './fixture/follow.ts';
