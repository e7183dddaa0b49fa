export type { TaskAgentTarget, TaskTypes } from './dispatch/targets.ts';
export type { TaskGatewayOptions } from './options.ts';
export type { WebSocketOptions } from './sockets/socket-server.ts';
export { createTaskGateway, type TaskGateway } from './task-gateway.ts';
export type {
  GatewayError,
  GatewayForm,
  GatewayStatus,
  GatewayTask,
  GatewayTransition,
  TaskProgressReport,
} from './tasks/gateway-task.ts';
