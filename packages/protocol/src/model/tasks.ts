import * as z from 'zod';
import { Artifact, Message, TaskPushNotificationConfig, TaskState } from './messages.ts';
import {
  generation,
  int32,
  message,
  type Oneof,
  oneof,
  optionalText,
  requiredText,
  struct,
  timestamp,
} from './proto-json.ts';

/** The state of a task, with the agent's message about it. Spec: §4.1.2. */
export const TaskStatus = message({
  state: TaskState,
  message: Message.optional(),
  timestamp: timestamp.optional(),
});
export type TaskStatus = z.infer<typeof TaskStatus>;

/** What happened to a task, of which an entry has one: a client sent a message, or the task changed its status. */
export interface TimelineEntryMembers {
  message: Message;
  status: TaskStatus;
}

/** One entry of a timeline, with the generation of the task after it. Spec: §4.1.8 of A2A 1.1, as planned. */
export type TimelineEntry = Oneof<TimelineEntryMembers> & { generation?: string };
export const TimelineEntry = oneof<TimelineEntryMembers, { generation?: string }>(
  { message: Message.optional(), status: TaskStatus.optional() },
  { generation },
);

/** Entries of a kind that this release does not know are skipped. */
const timeline = z
  .preprocess(
    (value) =>
      Array.isArray(value) ? value.filter((entry) => Object(entry).message || Object(entry).status) : value,
    z.array(TimelineEntry).optional(),
  )
  .optional();

/** A unit of work with its results. `timeline` is of the extension `GENERATION`. Spec: §4.1.1. */
export const Task = message({
  id: requiredText,
  contextId: optionalText,
  status: TaskStatus,
  artifacts: z.array(Artifact).optional(),
  history: z.array(Message).optional(),
  metadata: struct.optional(),
  generation,
  timeline,
});
export type Task = z.infer<typeof Task>;

/** A task changed its status. Spec: §4.2.1. */
export const TaskStatusUpdateEvent = message({
  taskId: requiredText,
  contextId: requiredText,
  status: TaskStatus,
  metadata: struct.optional(),
  generation,
});
export type TaskStatusUpdateEvent = z.infer<typeof TaskStatusUpdateEvent>;

/** A task produced an artifact or, with `append`, more parts of one. Spec: §4.2.2. */
export const TaskArtifactUpdateEvent = message({
  taskId: requiredText,
  contextId: requiredText,
  artifact: Artifact,
  append: z.boolean().optional(),
  lastChunk: z.boolean().optional(),
  metadata: struct.optional(),
  generation,
});
export type TaskArtifactUpdateEvent = z.infer<typeof TaskArtifactUpdateEvent>;

/** The members of {@link SendMessageResponse}, of which an answer has one. */
export interface SendMessageResponseMembers {
  task: Task;
  message: Message;
}

/** The answer to SendMessage: exactly one member. Spec: §3.1.1. */
export type SendMessageResponse = Oneof<SendMessageResponseMembers>;
export const SendMessageResponse = oneof<SendMessageResponseMembers>({
  task: Task.optional(),
  message: Message.optional(),
});

/** The members of {@link StreamResponse}, of which an event has one. */
export interface StreamResponseMembers extends SendMessageResponseMembers {
  statusUpdate: TaskStatusUpdateEvent;
  artifactUpdate: TaskArtifactUpdateEvent;
}

/** One event of a stream, and the body of a webhook: exactly one member. Spec: §3.2.3. */
export type StreamResponse = Oneof<StreamResponseMembers>;
export const StreamResponse = oneof<StreamResponseMembers>({
  task: Task.optional(),
  message: Message.optional(),
  statusUpdate: TaskStatusUpdateEvent.optional(),
  artifactUpdate: TaskArtifactUpdateEvent.optional(),
});

/** One page of tasks. The last has an empty `nextPageToken`; `totalSize` counts the tasks of all pages. Spec: §3.1.4. */
export const ListTasksResponse = message({
  tasks: z.array(Task),
  nextPageToken: z.string(),
  pageSize: int32(0),
  totalSize: int32(0),
});
export type ListTasksResponse = z.infer<typeof ListTasksResponse>;

/** One page of webhooks. The last has no `nextPageToken`. Spec: §3.1.9. */
export const ListTaskPushNotificationConfigsResponse = message({
  configs: z.array(TaskPushNotificationConfig).optional(),
  nextPageToken: optionalText,
});
export type ListTaskPushNotificationConfigsResponse = z.infer<typeof ListTaskPushNotificationConfigsResponse>;

/** A result without members: `google.protobuf.Empty`. */
export const Empty = message({});
export type Empty = z.infer<typeof Empty>;
