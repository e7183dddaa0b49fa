import type * as z from 'zod';
import { Message, TaskState } from './messages.ts';
import {
  anyText,
  bool,
  boundedList,
  int32,
  message,
  optionalId,
  optionalText,
  plainBool,
  requiredId,
  requiredText,
  struct,
  timestamp,
  unchecked,
  url,
} from './proto-json.ts';

const tenant = optionalId;
const historyLength = int32(0).optional();
const metadata = struct.optional();

/** How a server authenticates itself to a webhook. Spec: §4.3.2. */
export const AuthenticationInfo = message({ scheme: requiredText, credentials: optionalText });
export type AuthenticationInfo = z.infer<typeof AuthenticationInfo>;

const pushNotificationConfig = {
  tenant,
  id: optionalId,
  taskId: optionalId,
  url,
  token: optionalText,
  authentication: AuthenticationInfo.optional(),
};

/** A webhook of one task. Spec: §4.3.1. */
export const TaskPushNotificationConfig = message(pushNotificationConfig);
export type TaskPushNotificationConfig = z.infer<typeof TaskPushNotificationConfig>;

/** Registers a webhook: a {@link TaskPushNotificationConfig} that names its task. Spec: §3.1.7. */
export const CreateTaskPushNotificationConfigRequest = message({
  ...pushNotificationConfig,
  taskId: requiredId,
});
export type CreateTaskPushNotificationConfigRequest = z.infer<typeof CreateTaskPushNotificationConfigRequest>;

/**
 * The form of the answer that the client wants. `historyLength` counts messages; `ifGenerationMatch` is of the extension
 * `GENERATION`. Spec: §3.2.2.
 */
export const SendMessageConfiguration = message({
  acceptedOutputModes: boundedList(anyText).optional(),
  taskPushNotificationConfig: TaskPushNotificationConfig.optional(),
  historyLength,
  returnImmediately: plainBool.optional(),
  ifGenerationMatch: unchecked,
});
export type SendMessageConfiguration = z.infer<typeof SendMessageConfiguration>;

/** A message to the agent: it starts a task, continues one, or gets a message as answer. Spec: §3.1.1, §3.1.2. */
export const SendMessageRequest = message({
  tenant,
  message: Message,
  configuration: SendMessageConfiguration.optional(),
  metadata,
});
export type SendMessageRequest = z.infer<typeof SendMessageRequest>;

/**
 * Asks for a task, with at most `historyLength` messages of its history. `currentGeneration` is of the extension
 * `GENERATION`. Spec: §3.1.3.
 */
export const GetTaskRequest = message({
  tenant,
  id: requiredId,
  historyLength,
  currentGeneration: unchecked,
});
export type GetTaskRequest = z.infer<typeof GetTaskRequest>;

/**
 * Asks for tasks, newest status first. `statusTimestampAfter` is inclusive, an unspecified `status` no filter. `labels`,
 * of which a task has all, `skill` and `code` are of the extension `LABELS`. Spec: §3.1.4.
 */
export const ListTasksRequest = message({
  tenant,
  contextId: optionalId,
  status: TaskState.transform((state) => (state === 'TASK_STATE_UNSPECIFIED' ? undefined : state)).optional(),
  pageSize: int32(1, 100).optional(),
  pageToken: optionalText,
  historyLength,
  statusTimestampAfter: timestamp.optional(),
  includeArtifacts: bool.optional(),
  labels: boundedList(anyText).optional(),
  skill: optionalText,
  code: optionalText,
});
export type ListTasksRequest = z.infer<typeof ListTasksRequest>;

/** Asks for a task to be canceled. Spec: §3.1.5. */
export const CancelTaskRequest = message({ tenant, id: requiredId, metadata });
export type CancelTaskRequest = z.infer<typeof CancelTaskRequest>;

/** Asks for the further events of a task. Spec: §3.1.6. */
export const SubscribeToTaskRequest = message({ tenant, id: requiredId });
export type SubscribeToTaskRequest = z.infer<typeof SubscribeToTaskRequest>;

/** Asks for one webhook of a task. Spec: §3.1.8. */
export const GetTaskPushNotificationConfigRequest = message({
  tenant,
  taskId: requiredId,
  id: requiredId,
});
export type GetTaskPushNotificationConfigRequest = z.infer<typeof GetTaskPushNotificationConfigRequest>;

/** Removes one webhook of a task. Spec: §3.1.10. */
export const DeleteTaskPushNotificationConfigRequest = message({
  tenant,
  taskId: requiredId,
  id: requiredId,
});
export type DeleteTaskPushNotificationConfigRequest = z.infer<typeof DeleteTaskPushNotificationConfigRequest>;

/** Asks for the webhooks of a task. With `pageSize` 0, the server chooses. Spec: §3.1.9. */
export const ListTaskPushNotificationConfigsRequest = message({
  tenant,
  taskId: requiredId,
  pageSize: int32(0).optional(),
  pageToken: optionalText,
});
export type ListTaskPushNotificationConfigsRequest = z.infer<typeof ListTaskPushNotificationConfigsRequest>;

/** Asks for the card for authenticated callers. Spec: §3.1.11. */
export const GetExtendedAgentCardRequest = message({ tenant });
export type GetExtendedAgentCardRequest = z.infer<typeof GetExtendedAgentCardRequest>;
