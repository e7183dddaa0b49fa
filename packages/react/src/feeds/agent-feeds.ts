import type { AgentClient } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { type ConversationFeed, conversationFeed } from './conversation-feed.ts';
import { Shared } from './shared.ts';
import { type ListOptions, type TaskFeed, type TaskListFeed, taskFeed, taskListFeed } from './task-feed.ts';

export type AgentFeeds = ReturnType<typeof agentFeeds>;

/** The feeds of one agent: all components that show the same share one. */
export function agentFeeds(agent: AgentClient) {
  const tasks = new Shared<TaskFeed>();
  const lists = new Shared<TaskListFeed>();
  const conversations = new Shared<ConversationFeed>();

  function onChange(task: Task): void {
    for (const list of lists.all()) list.update(task);
    for (const conversation of conversations.all()) conversation.update(task);
  }

  const feeds = {
    task: (id: string): TaskFeed => tasks.get(id, () => taskFeed(agent, id, (task) => onChange(task))),
    list(options: ListOptions): TaskListFeed {
      const key = JSON.stringify(Object.entries(options).sort());
      return lists.get(key, () => taskListFeed(agent, options));
    },
    conversation(contextId: string | undefined): ConversationFeed {
      const open = () => conversationFeed(agent, feeds, contextId);
      return contextId === undefined ? open() : conversations.get(contextId, open);
    },
    adopt: (contextId: string, feed: ConversationFeed): void => void conversations.get(contextId, () => feed),
    onChange,
  };
  return feeds;
}

const known = new WeakMap<AgentClient, AgentFeeds>();

/** The feeds of an agent, which live as long as its client. */
export function feedsOf(agent: AgentClient): AgentFeeds {
  const feeds = known.get(agent) ?? agentFeeds(agent);
  known.set(agent, feeds);
  return feeds;
}
