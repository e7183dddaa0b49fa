export { describePushConfigStore } from './describe-push-config-store.ts';
export { describeTaskStore } from './describe-task-store.ts';
export type { CheckOptions, Opened } from './fixture/check.ts';
