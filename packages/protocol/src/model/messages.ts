import * as z from 'zod';
import { checkedBy } from './canonical.ts';
import type { Json, Struct } from './json.ts';
import {
  anyJson,
  anyText,
  base64,
  boundedList,
  filledList,
  message,
  type Oneof,
  oneof,
  optionalId,
  optionalText,
  protoEnum,
  requiredId,
  requiredText,
  struct,
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

/** A result of a task, or a part of one. Spec: §4.1.7. */
export const Artifact = message({
  artifactId: requiredText,
  name: optionalText,
  description: optionalText,
  parts: z.array(Part).min(1, 'must have at least one part'),
  metadata: struct.optional(),
  extensions: z.array(z.string()).optional(),
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
