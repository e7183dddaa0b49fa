import type { z } from 'zod';
import { AgentCard } from './agent-card.ts';
import type { OperationName } from './operations.ts';
import {
  CancelTaskRequest,
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  Empty,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from './requests.ts';
import { SendMessageResponse, StreamResponse, Task } from './tasks.ts';

// biome-ignore format: a table reads best with one row per line
/** Request and result of every operation, under the names of the operation table; a stream's `result` is one event. */
export const schemas = {
  SendMessage: { params: SendMessageRequest, result: SendMessageResponse },
  SendStreamingMessage: { params: SendMessageRequest, result: StreamResponse },
  GetTask: { params: GetTaskRequest, result: Task },
  ListTasks: { params: ListTasksRequest, result: ListTasksResponse },
  CancelTask: { params: CancelTaskRequest, result: Task },
  SubscribeToTask: { params: SubscribeToTaskRequest, result: StreamResponse },
  CreateTaskPushNotificationConfig: { params: CreateTaskPushNotificationConfigRequest, result: TaskPushNotificationConfig },
  GetTaskPushNotificationConfig: { params: GetTaskPushNotificationConfigRequest, result: TaskPushNotificationConfig },
  ListTaskPushNotificationConfigs: { params: ListTaskPushNotificationConfigsRequest, result: ListTaskPushNotificationConfigsResponse },
  DeleteTaskPushNotificationConfig: { params: DeleteTaskPushNotificationConfigRequest, result: Empty },
  GetExtendedAgentCard: { params: GetExtendedAgentCardRequest, result: AgentCard },
} satisfies Record<OperationName, { params: z.ZodType; result: z.ZodType }>;
