export {
  type ConnectTasksOptions,
  connectTasks,
  type NewTask,
  type TaskClient,
} from './client/connect-tasks.ts';
export { TaskError } from './client/task-error.ts';
export type { WatchOptions } from './client/watches.ts';
export type {
  GatewayError,
  GatewayForm,
  GatewayStatus,
  GatewayTask,
  TaskProgressReport,
  TaskUpdate,
} from './tasks/gateway-task.ts';
