import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { type AgentOperations, agentOperations } from './agent-operations.ts';
import { type MessageInput, type SendOptions, toRequest } from './message-input.ts';
import type { AgentReply } from './one-of.ts';
import type { Session } from './session.ts';
import type { CallOptions } from './settings.ts';

/** An agent that can be asked. */
export interface AgentClient extends AgentOperations {
  /** What the agent says about itself; after `getExtendedAgentCard`, what it says to this caller. */
  readonly card: AgentCard;
  /** The interface of the card that is in use. */
  readonly interface: AgentInterface;
  /** Reads the card again, as far as its caching headers allow, and goes on with what it says now. */
  readCard(options?: CallOptions): Promise<AgentCard>;
  /** Sends a message and waits for what comes of it: a task that has ended or waits for somebody, or a message. Spec: §3.1.1. */
  send(input: MessageInput, options?: SendOptions): Promise<AgentReply>;
}

/** The client of a session. */
export function createAgentClient(
  session: Session,
  reread: (options?: CallOptions) => Promise<AgentCard>,
): AgentClient {
  const operations = agentOperations(session);
  return {
    ...operations,
    async getExtendedAgentCard(params, options) {
      const card = await operations.getExtendedAgentCard(params, options);
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
    send: (input, options = {}) =>
      session.call('SendMessage', { ...toRequest(input, options) }, options) as Promise<AgentReply>,
  };
}
