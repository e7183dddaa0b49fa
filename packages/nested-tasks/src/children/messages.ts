import { answer, type MessageInput } from '@batonjs/client';
import { withMade } from '@batonjs/client/answers';
import type { Message, Part, Task } from '@batonjs/protocol';
import { TASK_TREE } from '@batonjs/protocol/headers';
import type { Turn } from '@batonjs/server';
import type { CallOptions } from '../call.ts';
import { derivedId } from './child-record.ts';

/** How many tasks are above this one, as its first message says. Untrusted: a caller may say anything. */
export function depthOf({ messages }: Turn): number {
  const { depth } = Object(messages[0]?.metadata?.[TASK_TREE]) as { depth?: unknown };
  return typeof depth === 'number' && Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}

/** The message that starts a child. It names the parent, for agents that show the tree and for those that do not. */
export function firstMessage(turn: Turn, input: MessageInput, { name, ...options }: CallOptions): Message {
  const given = toMessage(input);
  const { taskId } = turn;
  const references = [taskId, ...(given.referenceTaskIds ?? []), ...(options.references ?? [])];
  return {
    contextId: derivedId(taskId, name, 'context'),
    ...given,
    ...(options.contextId && { contextId: options.contextId }),
    role: 'ROLE_USER',
    messageId: derivedId(taskId, name, 'message'),
    referenceTaskIds: [...new Set(references)],
    metadata: { ...given.metadata, [TASK_TREE]: { parent: { taskId, name }, depth: depthOf(turn) + 1 } },
  };
}

/** The members of a message that a caller gave. */
export function toMessage(input: MessageInput): Partial<Message> & Pick<Message, 'parts'> {
  if (typeof input === 'string') return { parts: [{ text: input }] };
  if (Array.isArray(input)) return { parts: [...input] };
  return 'parts' in input ? input : { parts: [input as Part] };
}

/** The message with which this task passes on what a child says, under its own id. */
export function passedOn(task: Task, messageId: string, message = task.status.message): Message {
  const { parts = [], extensions } = message ?? {};
  return {
    messageId,
    role: 'ROLE_AGENT',
    parts: parts.length > 0 ? parts : [{ text: 'Another agent asks for an answer' }],
    referenceTaskIds: [task.id],
    ...(extensions && { extensions }),
  };
}

/** The question of a child, and below it what the child has made so far: the user of this task sees nothing else of it. */
export function questionOf(task: Task, messageId: string): Message {
  const message = passedOn(task, messageId);
  const made = withMade('', task);
  return made === '' ? message : { ...message, parts: [...message.parts, { text: made }] };
}

/** What users said between a message of this task and the next one of its agent, oldest first. */
export function answersAfter(messages: readonly Message[], question: string | undefined): Message[] {
  const at = messages.findIndex(({ messageId }) => messageId === question);
  if (question === undefined || at === -1) return [];
  const after = messages.slice(at + 1);
  const end = after.findIndex(({ role }) => role !== 'ROLE_USER');
  return end === -1 ? after : after.slice(0, end);
}

/** A user's answer as the child takes it: values without a form become the answer to the child's form. */
export function answerTo(child: Task, { parts }: Message): MessageInput {
  const [part] = parts;
  const isBare = parts.length === 1 && part && 'data' in part && Object(part.data).formId === undefined;
  return isBare ? answer(child, part.data) : { parts };
}
