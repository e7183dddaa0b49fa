import { type AgentClient, answer, type FollowOptions } from '@batonjs/client';
import {
  type AwaitedToolCall,
  answerParts,
  awaitedCalls,
  begun,
  isSameContent,
  latestNote,
  lengthsOf,
  openTask,
  placeIn,
  tasksOf,
  untilAtRest,
} from '@batonjs/client/answers';
import type { Json, Message, Part, Task } from '@batonjs/protocol';
import { remember } from '@batonjs/protocol/bounded-map';
import { A2AError } from '@batonjs/protocol/errors';
import { getToolOrDynamicToolName, isToolUIPart, type UIMessage, type UIMessageChunk } from 'ai';
import { AI_SDK } from '../metadata.ts';
import { chunksOf } from './chunks.ts';

/** Options for calls of the agent. */
export type FollowSettings = Pick<FollowOptions, 'signal' | 'followForMs' | 'onOpen' | 'onBreak'>;

/** What `useChat` sends. */
export interface Sending {
  readonly chatId: string;
  readonly messages: readonly UIMessage[];
  readonly trigger?: string;
}

type Chunks = AsyncGenerator<UIMessageChunk, void, void>;

/**
 * Sends the new message of a chat, and gives the chunks of the answer. A chat is a context of the agent, a message of the
 * user one of the agent's with the same id: sent again, it joins the task that it started. One that was edited, or is
 * asked again, is another message, which takes its place.
 */
export async function sendChat(
  agent: AgentClient,
  sending: Sending,
  settings: FollowSettings = {},
  count = sending.trigger === 'regenerate-message' ? 100 : 20,
): Promise<Chunks> {
  const { chatId, messages, trigger } = sending;
  const last = messages.at(-1);
  if (!last) throw new A2AError('INVALID_PARAMS', 'The chat has no message');
  const { signal } = settings;
  const tasks = await tasksOf(agent, chatId, { signal, count });
  if (last.role !== 'user') return answerCalls(agent, last, openTask(tasks), settings);
  const parts = partsOf(last);
  if (parts.length === 0) throw new A2AError('INVALID_PARAMS', 'The message has no content');
  const isAgain = trigger === 'regenerate-message';
  const isSame = (sent: Message) => !isAgain && isSameContent(sent, parts);
  const sent = { id: last.id, isSame };
  const { sentTo, messageId, replaces, open } = await placeIn(agent, tasks, sent, { signal });
  if (sentTo) return followTask(agent, sentTo, settings);
  const waiting = open?.status.state === 'TASK_STATE_INPUT_REQUIRED' ? open : undefined;
  const note = { answerId: `answer-${messageId}`, messageId, given: lengthsOf(waiting) };
  const message: Message = {
    role: 'ROLE_USER',
    messageId,
    contextId: chatId,
    ...(waiting && { taskId: waiting.id }),
    parts: waiting ? parts.map((part) => asAnswer(waiting, part)) : parts,
    metadata: { [AI_SDK]: { ...note, ...(replaces !== undefined && { replaces }) } },
  };
  try {
    return chunksOf(answerParts(await begun(agent.stream(message, settings)), note), note.answerId);
  } catch (error) {
    // The agent has the id in a task further back, or got the message at this moment.
    if (!A2AError.is(error, 'MESSAGE_ID_CONFLICT') || count === 100) throw error;
    return sendChat(agent, sending, settings, 100);
  }
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

/** By chat, the task whose answer a page was not shown when it read the messages: it may end before the page resumes it. */
const unread = new Map<string, string>();

/** Keeps the open task of a chat whose messages a page reads. */
export const noteUnread = (chatId: string, tasks: readonly Task[]) =>
  remember(unread, chatId, openTask(tasks)?.id ?? '', 10_000);

/** Follows the open turn of a chat from its beginning, or the one that its page has not read. Undefined if there is none. */
export async function resumeChat(
  agent: AgentClient,
  chatId: string,
  settings: FollowSettings = {},
): Promise<Chunks | undefined> {
  const tasks = await tasksOf(agent, chatId, { signal: settings.signal });
  const task = openTask(tasks) ?? tasks.find(({ id }) => id === unread.get(chatId));
  return task && followTask(agent, task, settings);
}

async function followTask(agent: AgentClient, task: Task, settings: FollowSettings): Promise<Chunks> {
  const note = latestNote(task, AI_SDK);
  const events = untilAtRest(await begun(agent.follow(task.id, settings)));
  return chunksOf(answerParts(events, note), note?.answerId ?? task.id);
}

const asAnswer = (task: Task, part: Part): Part =>
  'data' in part ? (answer(task, part.data).parts[0] ?? part) : part;

/** The parts of a user's message for the agent. A part `data-answer` holds the values for a form of the agent. */
export function partsOf({ parts }: Pick<UIMessage, 'parts'>): Part[] {
  return parts.flatMap((part): Part[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type === 'file') {
      const [, raw] = /^data:[^,]*;base64,(.*)$/s.exec(part.url) ?? [];
      const { mediaType, filename } = part;
      return [
        { ...(raw === undefined ? { url: part.url } : { raw }), mediaType, ...(filename && { filename }) },
      ];
    }
    if (part.type === 'data-answer') return [{ data: part.data as Json }];
    return [];
  });
}

/** The parts of a message for a page, of which `partsOf` makes the same again. */
export const shownParts = (parts: readonly Part[]): UIMessage['parts'] =>
  parts.map((part): UIMessage['parts'][number] => {
    if ('text' in part) return { type: 'text', text: part.text };
    if ('data' in part) return { type: 'data-answer', data: part.data };
    const { mediaType = 'application/octet-stream', filename } = part;
    const url = 'url' in part ? part.url : `data:${mediaType};base64,${part.raw}`;
    return { type: 'file', mediaType, url, ...(filename && { filename }) };
  });

/**
 * What the page says to tool calls that wait: approvals, and outputs of tools that it runs. Undefined if it has not
 * answered all of them.
 */
export function answersIn(
  { parts }: UIMessage,
  awaited: readonly AwaitedToolCall[],
): Record<string, Json> | undefined {
  const answers: Record<string, Json> = {};
  for (const { toolCallId, needs } of awaited) {
    const part = parts.filter(isToolUIPart).find((each) => each.toolCallId === toolCallId);
    if (needs === 'approval' && part?.state === 'approval-responded') {
      const { approved, reason } = part.approval;
      answers[toolCallId] = { approved, ...(reason && { reason }) };
    } else if (part?.state === 'output-available') answers[toolCallId] = part.output as Json;
    else if (part?.state === 'output-error')
      answers[toolCallId] = { error: part.errorText, toolName: getToolOrDynamicToolName(part) };
    else return undefined;
  }
  return answers;
}

/** The ids of the tool calls that a message shows. */
export const callsIn = ({ parts }: UIMessage): string[] =>
  parts.filter(isToolUIPart).map(({ toolCallId }) => toolCallId);
