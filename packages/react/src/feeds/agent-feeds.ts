import type { AgentClient } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { ConversationFeed, type OtherFeeds } from './conversation-feed.ts';
import { Shared } from './shared.ts';
import { type ListOptions, TaskFeed, TaskListFeed } from './task-feed.ts';

/** The feeds of one agent: all components that show the same share one. */
export class AgentFeeds implements OtherFeeds {
  readonly #agent: AgentClient;
  readonly #tasks = new Shared<TaskFeed>();
  readonly #lists = new Shared<TaskListFeed>();
  readonly #conversations = new Shared<ConversationFeed>();

  constructor(agent: AgentClient) {
    this.#agent = agent;
  }

  task(id: string): TaskFeed {
    return this.#tasks.get(id, () => new TaskFeed(this.#agent, id, (task) => this.onChange(task)));
  }

  list(options: ListOptions): TaskListFeed {
    const key = JSON.stringify(Object.entries(options).sort());
    return this.#lists.get(key, () => new TaskListFeed(this.#agent, options));
  }

  conversation(contextId: string | undefined): ConversationFeed {
    const open = () => new ConversationFeed(this.#agent, this, contextId);
    return contextId === undefined ? open() : this.#conversations.get(contextId, open);
  }

  adopt(contextId: string, feed: ConversationFeed): void {
    this.#conversations.get(contextId, () => feed);
  }

  onChange(task: Task): void {
    for (const list of this.#lists.all()) list.update(task);
    for (const conversation of this.#conversations.all()) conversation.update(task);
  }
}

const known = new WeakMap<AgentClient, AgentFeeds>();

/** The feeds of an agent, which live as long as its client. */
export function feedsOf(agent: AgentClient): AgentFeeds {
  const feeds = known.get(agent) ?? new AgentFeeds(agent);
  known.set(agent, feeds);
  return feeds;
}
