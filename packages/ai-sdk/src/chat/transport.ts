import { type AgentClient, isTerminal } from '@batonjs/client';
import { answerParts, cancelOpenTask, type PastAnswer, pastAnswers, tasksOf } from '@batonjs/client/answers';
import { type ChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { AI_SDK } from '../metadata.ts';
import { type FollowSettings, noteUnread, resumeChat, sendChat, shownParts } from './chat.ts';
import { chunksOf } from './chunks.ts';

/** Options of `A2AChatTransport`. */
export interface A2AChatTransportOptions {
  /**
   * Milliseconds without contact after which an answer fails. Default `Infinity`: a page that is offline goes on when it
   * is back.
   */
  readonly followForMs?: number | undefined;
}

/**
 * Connects `useChat` with an agent: `new Chat({ transport: new A2AChatTransport(agent) })`. The id of a chat is the id of
 * a context. Answers survive broken connections and restarts of the server; `resume: true` goes on after a reload.
 */
export class A2AChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** A reconnect gives the answer from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #agent: () => Promise<AgentClient>;
  readonly #followForMs: number;

  /** A client of `connect`, or a function that connects when it is first needed. */
  constructor(agent: AgentClient | (() => Promise<AgentClient>), options: A2AChatTransportOptions = {}) {
    let connected: Promise<AgentClient> | undefined;
    this.#agent = () => {
      connected ??= Promise.resolve(typeof agent === 'function' ? agent() : agent);
      return connected.catch((error: unknown) => {
        connected = undefined;
        throw error;
      });
    };
    this.#followForMs = options.followForMs ?? Number.POSITIVE_INFINITY;
  }

  sendMessages: ChatTransport<Message>['sendMessages'] = async ({ chatId, messages, trigger, abortSignal }) =>
    this.#stream(abortSignal, async (settings) =>
      sendChat(await this.#agent(), { chatId, messages, trigger }, settings),
    ) as Promise<ReadableStream<UIMessageChunk>>;

  reconnectToStream: ChatTransport<Message>['reconnectToStream'] = async ({ chatId, abortSignal }) =>
    this.#stream(abortSignal, async (settings) => resumeChat(await this.#agent(), chatId, settings));

  /** Cancels the open task of a chat: `stop` of `useChat` only stops reading. Resolves to whether there was one. */
  async cancel(chatId: string): Promise<boolean> {
    return cancelOpenTask(await this.#agent(), chatId);
  }

  async #stream(
    abortSignal: AbortSignal | undefined,
    open: (settings: FollowSettings) => Promise<AsyncGenerator<UIMessageChunk, void, void> | undefined>,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const left = new AbortController();
    const signal = abortSignal ? AbortSignal.any([abortSignal, left.signal]) : left.signal;
    let task: Extract<UIMessageChunk, { type: `data-${string}` }> | undefined;
    let page: ReadableStreamDefaultController<UIMessageChunk> | undefined;
    const say = (connection?: 'reconnecting') => {
      if (task && !signal.aborted) page?.enqueue({ ...task, data: { ...Object(task.data), connection } });
    };
    const chunks = await open({
      ...{ signal, followForMs: this.#followForMs },
      onBreak: () => say('reconnecting'),
      onOpen: () => say(),
    });
    if (!chunks) return null;
    return new ReadableStream({
      start(controller) {
        page = controller;
      },
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) return controller.close();
        if (value.type === 'data-task') task = value as typeof task;
        controller.enqueue(value);
      },
      cancel: () => left.abort(),
    });
  }
}

/**
 * The messages of a chat as `useChat` takes them at its start, from the tasks of its context: after a reload, and in
 * another browser. The answer that is still written is left out: `resume` gives it.
 */
export async function chatMessages(agent: AgentClient, chatId: string): Promise<UIMessage[]> {
  const tasks = await tasksOf(agent, chatId, { count: 100 });
  noteUnread(chatId, tasks);
  const messages: UIMessage[] = [];
  for (const past of pastAnswers(tasks, AI_SDK)) {
    messages.push(userMessage(past));
    const answer = await answerOf(past);
    if (answer) messages.push(answer);
  }
  return messages;
}

const userMessage = ({ id, message }: PastAnswer): UIMessage => ({
  id,
  role: 'user',
  parts: shownParts(message.parts),
});

/** An answer, as its chunks add up. */
async function answerOf({ task, note, message }: PastAnswer): Promise<UIMessage | undefined> {
  if (!task) return undefined;
  const events = (async function* () {
    yield { task };
  })();
  const start = note ?? { messageId: message.messageId };
  const chunks = chunksOf(answerParts(events, start), note?.answerId ?? `answer-${message.messageId}`);
  const stream = new ReadableStream<UIMessageChunk>({
    async start(controller) {
      for await (const chunk of chunks)
        if (isTerminal(task) || !asks.has(chunk.type)) controller.enqueue(chunk);
      controller.close();
    },
  });
  let answer: UIMessage | undefined;
  // A task that failed has what it gave before: an error is no part of a message.
  for await (const state of readUIMessageStream({ stream })) answer = state;
  return answer;
}

/** What asks the user. A question that is past was answered, in words perhaps, and is not asked again. */
const asks: ReadonlySet<string> = new Set(['tool-approval-request', 'data-question']);
