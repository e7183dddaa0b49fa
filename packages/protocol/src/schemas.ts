import type * as z from 'zod';
import { AgentCard } from './model/agent-card.ts';
import { TaskPushNotificationConfig } from './model/messages.ts';
import {
  Empty,
  ListTaskPushNotificationConfigsResponse,
  ListTasksResponse,
  SendMessageResponse,
  StreamResponse,
  Task,
} from './model/tasks.ts';
import type { OperationName } from './operation-table.ts';
import { params } from './params.ts';

// biome-ignore format: a table reads best with one row per line
/** Request and result of every operation, under the names of the operation table; a stream's `result` is one event. */
export const schemas = {
  SendMessage: { params: params.SendMessage, result: SendMessageResponse },
  SendStreamingMessage: { params: params.SendStreamingMessage, result: StreamResponse },
  GetTask: { params: params.GetTask, result: Task },
  ListTasks: { params: params.ListTasks, result: ListTasksResponse },
  CancelTask: { params: params.CancelTask, result: Task },
  SubscribeToTask: { params: params.SubscribeToTask, result: StreamResponse },
  CreateTaskPushNotificationConfig: { params: params.CreateTaskPushNotificationConfig, result: TaskPushNotificationConfig },
  GetTaskPushNotificationConfig: { params: params.GetTaskPushNotificationConfig, result: TaskPushNotificationConfig },
  ListTaskPushNotificationConfigs: { params: params.ListTaskPushNotificationConfigs, result: ListTaskPushNotificationConfigsResponse },
  DeleteTaskPushNotificationConfig: { params: params.DeleteTaskPushNotificationConfig, result: Empty },
  GetExtendedAgentCard: { params: params.GetExtendedAgentCard, result: AgentCard },
} satisfies Record<OperationName, { params: z.ZodType; result: z.ZodType }>;
