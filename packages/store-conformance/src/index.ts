export type { CheckOptions, Opened } from './bench/check.ts';
export { describePushConfigStore } from './describe-push-config-store.ts';
export { describeTaskStore } from './describe-task-store.ts';
