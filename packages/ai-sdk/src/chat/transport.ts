import type { AgentClient } from '@batonjs/client';
import { cancelOpenTask } from '@batonjs/client/answers';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { type FollowSettings, resumeChat, sendChat } from './chat.ts';

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
    this.#agent =
      typeof agent === 'function'
        ? () => {
            connected ??= agent().catch((error: unknown) => {
              connected = undefined;
              throw error;
            });
            return connected;
          }
        : async () => agent;
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
    const chunks = await open({ signal, followForMs: this.#followForMs });
    if (!chunks) return null;
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => left.abort(),
    });
  }
}
