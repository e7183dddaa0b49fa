import type { AgentClient, AgentReply, MessageInput } from '@batonjs/client';
import type { Json, Task } from '@batonjs/protocol';
import { useMemo } from 'react';
import { feedsOf } from './feeds/agent-feeds.ts';
import { type Conversed, idle } from './feeds/conversation-feed.ts';
import { useFeed } from './use-feed.ts';

/** A conversation as it is now, and what can be said in it. */
export interface UsedConversation extends Conversed {
  /**
   * Sends a message: to the current task if it waits for one, and otherwise as a new task. The message is in `sent` at
   * once. Resolves as soon as the agent has it.
   */
  readonly send: (input: MessageInput) => Promise<AgentReply>;
  /** Answers the question of the current task: with text, or with the values of its form. */
  readonly answer: (values: Json) => Promise<AgentReply>;
  /** Cancels the current task. */
  readonly cancel: () => Promise<Task | undefined>;
}

/**
 * Follows the tasks of a context while the component is mounted, those that other pages start included. Without a
 * `contextId`, the first message begins a conversation, whose `contextId` is returned: keep it in the address of the page.
 */
export function useConversation(agent: AgentClient | undefined, contextId?: string): UsedConversation {
  const feed = useMemo(() => agent && feedsOf(agent).conversation(contextId), [agent, contextId]);
  const conversed = useFeed(feed, idle);
  const operations = useMemo(() => {
    const on = async () => {
      if (feed) return feed;
      throw new Error('useConversation has no agent yet');
    };
    return {
      send: async (input: MessageInput) => (await on()).send(input),
      answer: async (values: Json) => (await on()).answer(values),
      cancel: async () => (await on()).cancel(),
    };
  }, [feed]);
  return { ...conversed, ...operations };
}
