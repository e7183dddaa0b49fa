import { replacedIn } from '@batonjs/client/answers';
import type { Message, Part, Task } from '@batonjs/protocol';
import type { TaskUpdate, Turn } from '@batonjs/server';
import type { AssistantModelMessage, FilePart, ModelMessage, TextPart } from 'ai';
import { AI_SDK } from '../metadata.ts';
import { answersTo, isUndecided } from './answers.ts';
import type { PendingCall } from './pending-call.ts';

/** What a model reads before it answers. */
export interface History {
  readonly messages: ModelMessage[];
  /** The calls of tools that wait for an answer to the agent that they called, and run again now, and their names. */
  readonly resumed: ReadonlyMap<string, string>;
  /** What the turns before this one put into the artifacts of the task. */
  readonly given: Given;
  /** The calls about which the user said neither yes nor no. Empty if the model can go on. */
  readonly undecided: Kept['pending'];
}

/** What the history of a turn has. */
export interface HistoryOptions {
  /** How many completed tasks of the context are part of it: the newest. */
  readonly tasks: number;
  /** The name of the artifact with the answer. */
  readonly artifact: string;
}

/**
 * The history of a turn: completed tasks of its context, then the messages of its task. Without what a new version
 * of a message took the place of.
 */
export async function historyOf(turn: Turn, { tasks, artifact }: HistoryOptions): Promise<History> {
  const all = tasks > 0 ? await turn.context.tasks() : [];
  const replaced = replacedIn([...all.flatMap(({ history = [] }) => history), ...turn.messages]);
  const exchanges = all.filter(isCompleted).map((task) => exchangeOf(task, artifact, replaced));
  const messages = exchanges
    .filter(({ length }) => length > 0)
    .slice(-tasks)
    .flat();
  const said = turn.messages.map((message) => ({ message, kept: keptBy(message, turn.memory) }));
  const lastTaken = lastTakenIn(said, turn);
  let pending: Kept['pending'] = [];
  let given = nothingGiven;
  // Messages of the user that none of the turns so far has taken, oldest first.
  let waiting: Message[] = [];
  // How many of them were no answer, so that the question was asked again.
  let unclear = 0;
  const countTo = (until: string | undefined) =>
    waiting.findIndex(({ messageId }) => messageId === until) + 1;
  const take = (until: string | undefined = waiting.at(-1)?.messageId) => {
    const count = countTo(until);
    const taken = waiting.slice(0, count);
    const words = taken.slice(unclear);
    const isUnclear = isUndecided(pending, taken, words);
    waiting = waiting.slice(count);
    unclear = 0;
    messages.push(...(pending.length > 0 ? [answersTo(pending, taken, words)] : usersOf(taken)));
    return isUnclear;
  };
  for (const [at, { message, kept }] of said.entries()) {
    if (message.role === 'ROLE_USER') {
      if (at <= lastTaken) waiting.push(message);
    } else if (kept && 'isAgain' in kept) unclear = countTo(kept.until);
    else if (kept) {
      take(kept.until);
      // They came before the question, so that they do not answer it.
      messages.push(...askedAfter(usersOf(waiting), withRequests(kept)));
      waiting = [];
      pending = kept.pending;
      given = kept.given;
    } else if (pending.length === 0 && !isAboutTools(message) && !message.referenceTaskIds?.length) {
      take();
      const words = assistantMessage(message.parts);
      if (words) messages.push(words);
    }
  }
  const undecided = take() ? pending : [];
  return { messages, resumed: new Map(pending.flatMap(waitingCall)), given, undecided };
}

interface Said {
  readonly message: Message;
  readonly kept: Kept | AskedAgain | undefined;
}

/**
 * The position of the last message that a turn has taken. Later ones wait for the next turn: an earlier attempt of this
 * turn did not read them, and may have run a tool for what it read.
 */
function lastTakenIn(said: readonly Said[], turn: Turn): number {
  const ids = new Set([turn.message.messageId, ...said.map(({ kept }) => kept?.until)]);
  return said.findLastIndex(({ message }) => ids.has(message.messageId));
}

const nothingGiven: Given = { files: 0, sources: [], texts: {} };

const usersOf = (messages: readonly Message[]): ModelMessage[] =>
  messages.flatMap((message) => userMessage(message) ?? []);

/** `users` before the answer of the model that ends in the question. Nothing may stand between calls and results. */
const askedAfter = (users: readonly ModelMessage[], kept: readonly ModelMessage[]): ModelMessage[] => {
  const asks = kept.findLastIndex(({ role }) => role === 'assistant');
  return kept.toSpliced(Math.max(asks, 0), 0, ...users);
};

const isCompleted = ({ status }: Task): boolean => status.state === 'TASK_STATE_COMPLETED';

const waitingCall = ({ needs, toolCallId, call = toolCallId }: PendingCall): [string, string][] =>
  needs === 'answer' ? [[toolCallId, call]] : [];

/** What the user asked in a task, and what the agent gave: not what led to the answer. */
function exchangeOf(
  { history = [], artifacts = [] }: Task,
  answer: string,
  replaced: ReadonlySet<Message>,
): ModelMessage[] {
  const users = history.filter(({ role }) => role === 'ROLE_USER');
  const asked = usersOf(users.filter((message) => !replaced.has(message)));
  if (users.some((message) => replaced.has(message))) return asked;
  const kept = artifacts.filter(({ artifactId }) => artifactId === answer || !besides.has(artifactId));
  const given = assistantMessage(...kept.map(({ parts }) => parts));
  return given ? [...asked, given] : asked;
}

/** The artifacts of a streamed agent that are no answer. */
const besides: ReadonlySet<string> = new Set(['reasoning', 'sources']);

/**
 * The kept messages. The SDK runs a call of the history only after an approval, so that one which waits for an answer
 * gets a request that `answersTo` approves.
 */
function withRequests({ messages, pending }: Kept): ModelMessage[] {
  const ids = new Set(pending.flatMap(waitingCall).map(([id]) => id));
  return messages.map((message) => {
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

/** A message of the user as a model reads it; undefined if it has no content. */
export function userMessage({ parts }: Pick<Message, 'parts'>): ModelMessage | undefined {
  const content = parts.map(contentOf);
  return content.length > 0 ? { role: 'user', content } : undefined;
}

/**
 * What the agent said, as a model reads its own words: a message, or artifacts, with an empty line between the texts of
 * two. Undefined without content.
 */
export function assistantMessage(...said: (readonly Part[])[]): AssistantModelMessage | undefined {
  const joined: (TextPart | FilePart)[] = [];
  for (const parts of said) {
    let between = '\n\n';
    for (const part of parts.map(contentOf)) {
      if (part.type === 'text' && part.text === '') continue;
      const last = joined.at(-1);
      // Pieces of one text, as they were streamed, are one text again.
      if (last?.type === 'text' && part.type === 'text')
        joined[joined.length - 1] = { type: 'text', text: last.text + between + part.text };
      else joined.push(part);
      between = '';
    }
  }
  return joined.length > 0 ? { role: 'assistant', content: joined } : undefined;
}

/** Data becomes its JSON. A file whose address is no URL becomes text: a model cannot read it. */
function contentOf(part: Part): TextPart | FilePart {
  if ('text' in part) return { type: 'text', text: part.text };
  if ('data' in part) return { type: 'text', text: JSON.stringify(part.data) };
  const about = {
    mediaType: part.mediaType || 'application/octet-stream',
    ...(part.filename && { filename: part.filename }),
  };
  if ('raw' in part) return { type: 'file', data: { type: 'data', data: part.raw }, ...about };
  return URL.canParse(part.url)
    ? { type: 'file', data: { type: 'url', url: new URL(part.url) }, ...about }
    : { type: 'text', text: part.url };
}

/** What a question keeps for the next turn: the messages of this turn's model, and its calls without a result. */
export interface Kept {
  readonly messages: readonly ModelMessage[];
  readonly pending: readonly PendingCall[];
  /** The id of the latest message that the turn took. `messages` do not answer those that came after it. */
  readonly until: string;
  readonly given: Given;
}

/** What a question keeps that was asked again: the answer with this id, and those before it, were none. */
interface AskedAgain {
  readonly isAgain: true;
  readonly until: string;
}

/** What the turns of a task have put into its artifacts, so that the next turn goes on there. */
export interface Given {
  /** How many artifacts `file-1`, `file-2` … there are. */
  readonly files: number;
  /** They become an artifact when the task completes. */
  readonly sources: readonly object[];
  /** The lengths of the texts, in UTF-16 code units, by the names of their artifacts. */
  readonly texts: Readonly<Record<string, number>>;
}

/**
 * The update with what its message keeps, in one commit: in the memory of the task, which no client sees. As a copy: the
 * stream may go on.
 */
export const keeping = (update: TaskUpdate, { messageId }: Message, kept: Kept | AskedAgain): TaskUpdate => ({
  ...update,
  memory: { [keyOf(messageId)]: JSON.parse(JSON.stringify(kept)) },
});

/** What a message of the agent keeps; undefined if it keeps nothing. */
export const keptBy = ({ messageId }: Message, memory: Turn['memory']): Kept | AskedAgain | undefined =>
  memory.get<Kept | AskedAgain>(keyOf(messageId));

/** Whether the agent wrote the message about its tools, for people. */
export const isAboutTools = ({ metadata }: Message): boolean => metadata?.[AI_SDK] !== undefined;

const keyOf = (messageId: string): string => `${AI_SDK} ${messageId}`;
