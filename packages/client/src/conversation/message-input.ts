import type {
  Message,
  Part,
  SendMessageConfiguration,
  SendMessageRequest,
  Struct,
  Task,
} from '@batonjs/protocol';
import type { CallOptions } from '../options/connect-options.ts';

/** The content to send: text, one part, several parts, or a message whose missing members the client fills in. */
export type MessageInput = string | Part | readonly Part[] | (Partial<Message> & Pick<Message, 'parts'>);

/** The task and context of a message, and how the agent should reply. */
export interface SendOptions extends CallOptions {
  /** The task that the message continues, or its id. */
  readonly task?: Task | string | undefined;
  /** The context in which the message starts a new task. Spec: §3.4.1. */
  readonly contextId?: string | undefined;
  /** Tasks that the message refers to. Without `contextId`, it uses the context of the first one that has one. Spec: §3.4.3. */
  readonly references?: readonly (Task | string)[] | undefined;
  /** The id of the message. Pass the id of an earlier attempt to send that message again. Default: a random id. */
  readonly messageId?: string | undefined;
  /** The agent replies as soon as the task exists, whatever its state. Spec: §3.2.2. */
  readonly returnImmediately?: boolean | undefined;
  readonly configuration?: SendMessageConfiguration | undefined;
  readonly metadata?: Struct | undefined;
}

/** The request for a message and its options. */
export function toRequest(input: MessageInput, options: SendOptions): SendMessageRequest {
  const { task, references = [], returnImmediately, metadata } = options;
  const given = toMessage(input);
  const contextId = options.contextId ?? contextOf(task) ?? references.map(contextOf).find(Boolean);
  const taskId = task && idOf(task);
  const message: Message = {
    role: 'ROLE_USER',
    messageId: options.messageId ?? newId(),
    ...(taskId && { taskId }),
    ...(contextId && { contextId }),
    ...(references.length > 0 && { referenceTaskIds: references.map(idOf) }),
    ...given,
  };
  const configuration = { ...options.configuration, ...(returnImmediately && { returnImmediately }) };
  return {
    message,
    ...(Object.keys(configuration).length > 0 && { configuration }),
    ...(metadata && { metadata }),
  };
}

function toMessage(input: MessageInput): Partial<Message> & Pick<Message, 'parts'> {
  if (typeof input === 'string') return { parts: [{ text: input }] };
  if (Array.isArray(input)) return { parts: [...input] };
  return 'parts' in input ? input : { parts: [input as Part] };
}

/** The id of a task that was passed whole or by its id. */
export const idOf = (task: Task | string): string => (typeof task === 'string' ? task : task.id);

const contextOf = (task: Task | string | undefined) =>
  typeof task === 'object' ? task.contextId : undefined;

/** A random id of 128 bits. `crypto.randomUUID` does not exist on pages without TLS. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
