import * as z from 'zod';
import { checkedBy } from './canonical.ts';
import type { Json, Struct } from './json.ts';
import {
  anyJson,
  anyText,
  base64,
  bool,
  boundedList,
  filledList,
  generation,
  int32,
  message,
  type Oneof,
  oneof,
  optionalId,
  optionalText,
  plainBool,
  protoEnum,
  requiredId,
  requiredText,
  struct,
  timestamp,
  unchecked,
  url,
} from './proto-json.ts';

/** The members of a {@link Part}, of which it has one. */
export interface PartContent {
  text: string;
  /** Base64, standard alphabet, padded. */
  raw: string;
  /** Absolute URL of a file. */
  url: string;
  /** Any JSON, also `null`. So check for it with `'data' in part`, not with `part.data`. */
  data: Json;
}

/** Members that every part may have beside its content. */
export interface PartAttributes {
  metadata?: Struct;
  filename?: string;
  mediaType?: string;
}

/** One piece of content: exactly one member of {@link PartContent}. Spec: §4.1.6. */
export type Part = Oneof<PartContent> & PartAttributes;
export const Part = oneof<PartContent, PartAttributes>(
  { text: anyText.optional(), raw: base64.optional(), url: url.optional(), data: anyJson },
  { metadata: struct.optional(), filename: optionalText, mediaType: optionalText },
);

/** The sender of a message: `ROLE_USER` for the client, `ROLE_AGENT` for the server. Spec: §4.1.5. */
export const Role = protoEnum(['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT']);
export type Role = z.infer<typeof Role>;

/** One turn of the conversation. Spec: §4.1.4. */
export const Message = message({
  messageId: requiredId,
  contextId: optionalId,
  taskId: optionalId,
  role: checkedBy(
    Role.refine((role) => role !== 'ROLE_UNSPECIFIED', 'is required'),
    (value) => value === 'ROLE_USER' || value === 'ROLE_AGENT',
  ),
  parts: filledList(Part),
  metadata: struct.optional(),
  extensions: boundedList(anyText).optional(),
  referenceTaskIds: boundedList(requiredId).optional(),
});
export type Message = z.infer<typeof Message>;

/** A result of a task, or a part of one. Its generations are of the extension `GENERATION`. Spec: §4.1.7. */
export const Artifact = message({
  artifactId: requiredText,
  name: optionalText,
  description: optionalText,
  parts: z.array(Part).min(1, 'must have at least one part'),
  metadata: struct.optional(),
  extensions: z.array(z.string()).optional(),
  startGeneration: generation,
  endGeneration: generation,
});
export type Artifact = z.infer<typeof Artifact>;

/** The state of a task. Spec: §4.1.3. */
export const TaskState = protoEnum([
  'TASK_STATE_UNSPECIFIED',
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
]);
export type TaskState = z.infer<typeof TaskState>;

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
 * The form of the answer that the client wants. `historyLength` counts messages; `ifGenerationMatch` and `timelineLength` are of the
 * extension `GENERATION`. Spec: §3.2.2.
 */
export const SendMessageConfiguration = message({
  acceptedOutputModes: boundedList(anyText).optional(),
  taskPushNotificationConfig: TaskPushNotificationConfig.optional(),
  historyLength,
  returnImmediately: plainBool.optional(),
  ifGenerationMatch: unchecked,
  timelineLength: unchecked,
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
 * Asks for a task, with at most `historyLength` messages of its history. `currentGeneration` and `timelineLength` are of the
 * extension `GENERATION`. Spec: §3.1.3.
 */
export const GetTaskRequest = message({
  tenant,
  id: requiredId,
  historyLength,
  currentGeneration: unchecked,
  timelineLength: unchecked,
});
export type GetTaskRequest = z.infer<typeof GetTaskRequest>;

/**
 * Asks for tasks, newest status first. `statusTimestampAfter` is inclusive, an unspecified `status` no filter. `labels`,
 * of which a task has all, `skill` and `code` are of the extension `LABELS`, `timelineLength` of `GENERATION`. Spec: §3.1.4.
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
  timelineLength: unchecked,
});
export type ListTasksRequest = z.infer<typeof ListTasksRequest>;

/** Asks for a task to be canceled. Spec: §3.1.5. */
export const CancelTaskRequest = message({ tenant, id: requiredId, metadata });
export type CancelTaskRequest = z.infer<typeof CancelTaskRequest>;

/** Asks for the further events of a task. Spec: §3.1.6. */
export const SubscribeToTaskRequest = message({ tenant, id: requiredId });
export type SubscribeToTaskRequest = z.infer<typeof SubscribeToTaskRequest>;

/** Asks for one webhook of a task. Spec: §3.1.8. */
export const GetTaskPushNotificationConfigRequest = message({ tenant, taskId: requiredId, id: requiredId });
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
