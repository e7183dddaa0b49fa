import type {
  Message,
  Part,
  SendMessageConfiguration,
  SendMessageRequest,
  Struct,
  Task,
} from '@batonjs/protocol';
import type { CallOptions } from '../options/settings.ts';

/** What can be sent: text, a part, several, or a message whose missing members are filled in. */
export type MessageInput = string | Part | readonly Part[] | (Partial<Message> & Pick<Message, 'parts'>);

/** Where a message belongs, and how its answer should come. */
export interface SendOptions extends CallOptions {
  /** The task that it continues, or its id. */
  readonly task?: Task | string;
  /** The context in which it starts something new. Spec: §3.4.1. */
  readonly contextId?: string;
  /** Tasks that it is about, finished ones as a rule; without `contextId`, the first one's context is taken. Spec: §3.4.3. */
  readonly references?: readonly (Task | string)[];
  /** Its own id, for sending it again. A fresh one by default. */
  readonly messageId?: string;
  /** Answer as soon as there is a task, whatever its state. Spec: §3.2.2. */
  readonly returnImmediately?: boolean;
  readonly configuration?: SendMessageConfiguration;
  readonly metadata?: Struct;
}

/** The request that says so. */
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

/** The id of a task, or what is one. */
export const idOf = (task: Task | string): string => (typeof task === 'string' ? task : task.id);

const contextOf = (task: Task | string | undefined) =>
  typeof task === 'object' ? task.contextId : undefined;

/** An id that nobody can guess; `randomUUID` is missing on pages without TLS. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
