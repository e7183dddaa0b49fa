export * from './client/connect-tasks.ts';
export { TaskError } from './client/task-error.ts';
export type {
  GatewayError,
  GatewayForm,
  GatewayStatus,
  GatewayTask,
  TaskProgressReport,
  TaskUpdate,
} from './tasks/gateway-task.ts';
