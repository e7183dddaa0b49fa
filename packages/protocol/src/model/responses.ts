import * as z from 'zod';
import { TaskPushNotificationConfig } from './messages.ts';
import { int32, message, optionalText } from './proto-json.ts';
import { Task } from './tasks.ts';

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
