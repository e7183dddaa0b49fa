import type { AgentClient } from '@batonjs/client';
import type { AgentServer } from '@batonjs/server';
import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  type ChatTransport,
  DefaultChatTransport,
  type UIMessage,
} from 'ai';
import { chatHandler } from '../../src/chat/chat-handler.ts';
import { A2AChatTransport } from '../../src/chat.ts';

/** The state of a chat, in place of that of React, which keeps each message that was shown. */
class ArrayState implements ChatState<UIMessage> {
  #status: ChatStatus = 'ready';
  error: Error | undefined;
  messages: UIMessage[] = [];
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get status(): ChatStatus {
    return this.#status;
  }

  set status(status: ChatStatus) {
    this.#status = status;
    this.#onChange();
  }

  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message];
    this.#onChange();
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, structuredClone(message));
    this.#onChange();
  };
  snapshot = <Value>(value: Value): Value => structuredClone(value);
}

/** What `useChat` is made of, without React. */
export class TestChat extends AbstractChat<UIMessage> {
  readonly #listeners = new Set<() => void>();

  constructor(init: Omit<ChatInit<UIMessage>, 'messages'> & { readonly messages?: UIMessage[] }) {
    const changed = () => {
      for (const listener of this.#listeners) listener();
    };
    const state = new ArrayState(() => changed());
    super({ ...init, state });
    if (init.messages) this.messages = init.messages;
  }

  /** The text of the latest message. */
  get text(): string {
    const parts = this.lastMessage?.parts ?? [];
    return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  }

  /** The parts of the latest message, without those that only say how the task is. */
  get shown(): UIMessage['parts'] {
    const parts = this.lastMessage?.parts ?? [];
    return parts.filter(({ type }) => type !== 'data-task' && type !== 'step-start');
  }

  /** Resolves when a change passes. */
  until(passes: () => unknown): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!passes()) return;
        this.#listeners.delete(check);
        resolve();
      };
      this.#listeners.add(check);
      check();
    });
  }
}

/** The ways from a chat to an agent: straight from the page, and through the server with the transport of the SDK. */
export const ways: readonly (readonly [
  name: string,
  transport: (client: AgentClient, server: AgentServer) => ChatTransport<UIMessage>,
])[] = [
  ['A2AChatTransport', (client) => new A2AChatTransport(client)],
  [
    'chatHandler',
    (_, server) => {
      const handler = chatHandler(server);
      return new DefaultChatTransport({
        api: 'http://localhost',
        fetch: (input, init) => handler.fetch(new Request(input, init)),
      });
    },
  ],
];
