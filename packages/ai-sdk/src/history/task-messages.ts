import type { Message, Task } from '@batonjs/protocol';
import type { Turn } from '@batonjs/server';
import type { ModelMessage } from 'ai';
import { answersTo } from './answers.ts';
import { isAboutTools, type Kept, keptIn } from './kept-messages.ts';
import type { PendingCall } from './pending-call.ts';
import { assistantMessage, userMessage } from './user-content.ts';

/** What a model reads before it answers. */
export interface History {
  readonly messages: ModelMessage[];
  /** The calls of tools that wait for an answer to the agent that they called, and run again now, and their names. */
  readonly resumed: ReadonlyMap<string, string>;
}

/** Where the history of a turn begins, and how to read what was kept. */
export interface HistoryOptions {
  /** `task`: with the task. `context`: with the oldest completed task of its context. */
  readonly memory: 'task' | 'context';
  readonly secret: string | undefined;
}

/** The history of a turn: the completed tasks of its context, then the messages of its task. */
export async function historyOf(turn: Turn, { memory, secret }: HistoryOptions): Promise<History> {
  const before = memory === 'context' ? (await turn.context.tasks()).filter(isCompleted) : [];
  const messages = before.flatMap(exchangeOf);
  let pending: Kept['pending'] = [];
  let answers: Message[] = [];
  const answer = () => {
    if (pending.length > 0) messages.push(answersTo(pending, answers));
    answers = [];
  };
  for (const message of turn.messages) {
    if (message.role === 'ROLE_USER') {
      const asked = pending.length > 0 ? undefined : userMessage(message);
      if (asked) messages.push(asked);
      answers.push(message);
      continue;
    }
    const kept = await keptIn(message, turn.taskId, secret);
    if (kept) {
      answer();
      messages.push(...withRequests(kept));
      pending = kept.pending;
    } else if (!isAboutTools(message) && !message.referenceTaskIds?.length) {
      const said = assistantMessage(message.parts);
      if (said) messages.push(said);
    }
  }
  answer();
  return { messages, resumed: new Map(pending.flatMap(waiting)) };
}

const isCompleted = ({ status }: Task): boolean => status.state === 'TASK_STATE_COMPLETED';

const waiting = ({ needs, toolCallId, call = toolCallId }: PendingCall): [string, string][] =>
  needs === 'answer' ? [[toolCallId, call]] : [];

/** What the user asked in a task, and what the agent gave. */
function exchangeOf({ history = [], artifacts = [] }: Task): ModelMessage[] {
  const asked = history
    .filter(({ role }) => role === 'ROLE_USER')
    .flatMap((message) => userMessage(message) ?? []);
  const given = assistantMessage(artifacts.flatMap(({ parts }) => parts));
  return given ? [...asked, given] : asked;
}

/**
 * The kept messages. The SDK runs a call of the history only after an approval, so that one which waits for an answer
 * gets a request that `answersTo` approves.
 */
function withRequests({ messages, pending }: Kept): ModelMessage[] {
  const ids = new Set(pending.flatMap(waiting).map(([id]) => id));
  return revived(messages).map((message) => {
    if (message.role !== 'assistant' || typeof message.content === 'string') return message;
    const requests = message.content.flatMap((part) =>
      part.type === 'tool-call' && ids.has(part.toolCallId)
        ? [
            {
              type: 'tool-approval-request' as const,
              approvalId: part.toolCallId,
              toolCallId: part.toolCallId,
            },
          ]
        : [],
    );
    return requests.length > 0 ? { ...message, content: [...message.content, ...requests] } : message;
  });
}

/** Copies: streamText may change what it is given. */
const revived = (messages: readonly ModelMessage[]): ModelMessage[] => structuredClone([...messages]);
