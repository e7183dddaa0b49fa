import type { AgentCard, AgentInterface, Task } from '@batonjs/protocol';
import { type AgentOperations, agentOperations } from './agent-operations.ts';
import type { Session } from './connection/session.ts';
import { idOf, type MessageInput, type SendOptions, toRequest } from './conversation/message-input.ts';
import { type FollowOptions, TaskStream } from './following/task-stream.ts';
import { trust } from './options/card-cache.ts';
import type { CallOptions } from './options/settings.ts';
import type { AgentReply } from './replies/agent-reply.ts';

/** An agent that can be asked. */
export interface AgentClient extends AgentOperations {
  /** What the agent says about itself; after `getExtendedAgentCard`, what it says to this caller. */
  readonly card: AgentCard;
  /** The interface of the card that is in use. */
  readonly interface: AgentInterface;
  /** Reads the card again, as far as its caching headers allow, and goes on with what it says now. */
  readCard(options?: CallOptions): Promise<AgentCard>;
  /**
   * Sends a message and waits for what comes of it: a message, or a task that has ended or waits for somebody. A task on
   * which the agent lets nobody wait any longer comes as it is; `stream(…).result()` waits on. Spec: §3.1.1.
   */
  send(input: MessageInput, options?: SendOptions): Promise<AgentReply>;
  /** Sends a message and follows what comes of it, until it has ended or waits for an answer. Spec: §3.1.2. */
  stream(input: MessageInput, options?: SendOptions & Omit<FollowOptions, 'lastEventId'>): TaskStream;
  /** Follows a task until it has ended. Spec: §3.1.6. */
  follow(task: Task | string, options?: FollowOptions): TaskStream;
  /** The same for one task. */
  task(task: Task | string): TaskHandle;
}

/** What can be asked of one task. */
export interface TaskHandle {
  readonly id: string;
  get(options?: CallOptions): Promise<Task>;
  cancel(options?: CallOptions): Promise<Task>;
  /** Says something to it: the answer to its question, or more. */
  send(input: MessageInput, options?: SendOptions): Promise<AgentReply>;
  /** Follows it until it has ended. */
  follow(options?: FollowOptions): TaskStream;
}

/** The client of a session. */
export function createAgentClient(
  session: Session,
  reread: (options?: CallOptions) => Promise<AgentCard>,
): AgentClient {
  const operations = agentOperations(session);
  const send = (input: MessageInput, options: SendOptions = {}) =>
    session.call('SendMessage', { ...toRequest(input, options) }, options) as Promise<AgentReply>;
  const follow = (task: Task | string, options: FollowOptions = {}) =>
    new TaskStream(session, { taskId: idOf(task) }, options);
  return {
    ...operations,
    async getExtendedAgentCard(params, options) {
      const card = await operations.getExtendedAgentCard(params, options);
      await trust(card, session.settings);
      session.use(card);
      return card;
    },
    get card() {
      return session.card;
    },
    get interface() {
      const { codec, ...entry } = session.candidates[session.current]!;
      return entry;
    },
    async readCard(options) {
      const { card: before } = session;
      const card = await reread(options);
      // An extended card stays until there is a new version of the agent.
      if (card.version !== before.version || !before.capabilities?.extendedAgentCard) session.use(card);
      return session.card;
    },
    send,
    follow,
    stream: (input, options = {}) => new TaskStream(session, { request: toRequest(input, options) }, options),
    task: (task) => {
      const id = idOf(task);
      return {
        id,
        get: (options) => operations.getTask({ id }, options),
        cancel: (options) => operations.cancelTask({ id }, options),
        send: (input, options) => send(input, { task, ...options }),
        follow: (options) => follow(id, options),
      };
    },
  };
}
