export type { CheckOptions, Opened } from './check.ts';
export { describeTaskStore } from './describe-task-store.ts';
