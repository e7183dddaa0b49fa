import { type AgentClient, answer } from '@batonjs/client';
import {
  answerParts,
  awaitedCalls,
  begun,
  latestNote,
  lengthsOf,
  openTask,
  tasksOf,
  taskWith,
  untilAtRest,
} from '@batonjs/client/answers';
import type { Message, Part, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { UIMessage, UIMessageChunk } from 'ai';
import { AI_SDK } from '../metadata.ts';
import { chunksOf } from './chunks.ts';
import { answersIn, callsIn, partsOf } from './ui-messages.ts';

/** Options for calls of the agent. */
export interface FollowSettings {
  readonly signal?: AbortSignal | undefined;
  readonly followForMs?: number | undefined;
}

/** What `useChat` sends. */
export interface Sending {
  readonly chatId: string;
  readonly messages: readonly UIMessage[];
  readonly trigger?: string;
}

type Chunks = AsyncGenerator<UIMessageChunk, void, void>;

/**
 * Sends the new message of a chat, and gives the chunks of the answer. A chat is a context of the agent, a message of the
 * user one of the agent's with the same id: sent again, it joins the task that it started.
 */
export async function sendChat(
  agent: AgentClient,
  { chatId, messages, trigger }: Sending,
  settings: FollowSettings = {},
): Promise<Chunks> {
  const last = messages.at(-1);
  if (!last) throw new A2AError('INVALID_PARAMS', 'The chat has no message');
  const tasks = await tasksOf(agent, chatId, { signal: settings.signal });
  const open = openTask(tasks);
  const waiting = open?.status.state === 'TASK_STATE_INPUT_REQUIRED' ? open : undefined;
  if (last.role !== 'user') return answerCalls(agent, last, open, settings);
  const isAgain = trigger === 'regenerate-message';
  const known = isAgain ? undefined : taskWith(tasks, last.id);
  if (known) return followTask(agent, known, settings);
  const parts = partsOf(last);
  if (parts.length === 0) throw new A2AError('INVALID_PARAMS', 'The message has no content');
  // The agent has a message of this id: asked again, it is another one.
  const messageId = isAgain ? `${last.id}-${crypto.randomUUID()}` : last.id;
  const note = { answerId: `answer-${messageId}`, messageId, given: lengthsOf(waiting) };
  const message: Message = {
    role: 'ROLE_USER',
    messageId,
    contextId: chatId,
    ...(waiting && { taskId: waiting.id }),
    parts: waiting ? parts.map((part) => asAnswer(waiting, part)) : parts,
    metadata: { [AI_SDK]: note },
  };
  return chunksOf(answerParts(await begun(agent.stream(message, settings)), note), note.answerId);
}

/** Sends approvals and outputs of tools, which stand in the assistant's message. Its answer goes on in that message. */
async function answerCalls(
  agent: AgentClient,
  last: UIMessage,
  task: Task | undefined,
  settings: FollowSettings,
): Promise<Chunks> {
  const values = task && answersIn(last, awaitedCalls(task));
  if (!task) throw new A2AError('INVALID_PARAMS', 'No task of this chat waits for an answer');
  if (!values || Object.keys(values).length === 0) return followTask(agent, task, settings);
  const { messageId = '', given = {} } = latestNote(task, AI_SDK) ?? {};
  const message: Message = {
    role: 'ROLE_USER',
    // The same answer to the same question is sent once.
    messageId: `answer-to-${task.status.message?.messageId ?? task.id}`,
    contextId: task.contextId,
    taskId: task.id,
    parts: [{ data: values }],
    metadata: { [AI_SDK]: { answerId: last.id, messageId, given } },
  };
  // What the message of the page shows of this answer is not given again.
  const start = { messageId: message.messageId, given: lengthsOf(task) };
  return chunksOf(answerParts(await begun(agent.stream(message, settings)), start), last.id, callsIn(last));
}

/** Follows the open turn of a chat from its beginning. Undefined if there is none. */
export async function resumeChat(
  agent: AgentClient,
  chatId: string,
  settings: FollowSettings = {},
): Promise<Chunks | undefined> {
  const open = openTask(await tasksOf(agent, chatId, { signal: settings.signal }));
  return open && followTask(agent, open, settings);
}

async function followTask(agent: AgentClient, task: Task, settings: FollowSettings): Promise<Chunks> {
  const note = latestNote(task, AI_SDK);
  const events = untilAtRest(await begun(agent.follow(task.id, settings)));
  return chunksOf(answerParts(events, note), note?.answerId ?? task.id);
}

const asAnswer = (task: Task, part: Part): Part =>
  'data' in part ? (answer(task, part.data).parts[0] ?? part) : part;
