import type { AgentSubscriber, Message } from '@ag-ui/client';
import { HttpAgent } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { HttpAgent as HttpAgent0 } from 'ag-ui-client-0';
import { expect } from 'vitest';

/** What a front end does with a thread. */
export interface FrontEnd {
  readonly messages: Message[];
  readonly state: Record<string, unknown>;
  /** The events of all runs so far. */
  readonly events: { readonly type: string; readonly [member: string]: unknown }[];
  say(text: string): void;
  add(message: Message): void;
  run(more?: object): Promise<unknown>;
  abort(): void;
  /** Resolves when an event passes. */
  until(
    passes: (event: { readonly type: string; readonly [member: string]: unknown }) => unknown,
  ): Promise<void>;
}

/** Where a front end finds its agent. */
export interface FrontEndOptions {
  readonly headers?: Record<string, string>;
  /** Answers requests in this process. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** A front end of each version. `headers` go with every request. */
export type Open = (url: string, threadId?: string, options?: FrontEndOptions) => FrontEnd;

const opened =
  (Agent: typeof HttpAgent, isModern: boolean): Open =>
  (url, threadId = 'thread-1', { headers = {}, fetch } = {}) => {
    const agent = new Agent({ url, threadId, headers });
    // The clients have no option for it.
    if (fetch)
      Object.assign(agent, { fetch: (to: string, init: RequestInit) => fetch(new Request(to, init)) });
    return around(agent, isModern);
  };

/** The clients that must work: the one that CopilotKit has, and the newest. */
export const versions: readonly (readonly [version: string, open: Open])[] = [
  ['0.0.59', opened(HttpAgent0 as never, false)],
  ['1.0.0', opened(HttpAgent, true)],
];

let count = 0;

function around(agent: HttpAgent, isModern: boolean): FrontEnd {
  const events: FrontEnd['events'] = [];
  const listeners = new Set<() => void>();
  const subscriber: AgentSubscriber = {
    onEvent: ({ event }) => {
      // Each event fits the schema of 1.0; those of the older client are checked by itself.
      if (isModern) expect(EventSchemas.safeParse(event).error, JSON.stringify(event)).toBeUndefined();
      events.push(event as FrontEnd['events'][number]);
      for (const listener of listeners) listener();
    },
  };
  const add = (message: Message) => agent.addMessage(message);
  return {
    get messages() {
      return agent.messages;
    },
    get state() {
      return agent.state as Record<string, unknown>;
    },
    events,
    add,
    say: (text) => add({ id: `message-${++count}`, role: 'user', content: text }),
    run: (more = {}) => agent.runAgent({ runId: `run-${++count}`, ...more }, subscriber),
    abort: () => agent.abortRun(),
    until: (passes) =>
      new Promise((resolve) => {
        const check = () => {
          if (!events.some(passes)) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
      }),
  };
}

/** The texts that a front end shows, with their roles. */
export const linesOf = ({ messages }: FrontEnd): string[] =>
  messages.flatMap((message) =>
    message.role === 'activity'
      ? []
      : [`${message.role}: ${typeof message.content === 'string' ? message.content : ''}`],
  );
