export { describeFileStore } from './describe-file-store.ts';
export { describePushConfigStore, describeTaskStore } from './describe-task-store.ts';
export type { CheckOptions, Opened } from './fixture/check.ts';
