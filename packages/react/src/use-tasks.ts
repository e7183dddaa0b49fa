import type { AgentClient } from '@batonjs/client';
import { useMemo } from 'react';
import { feedsOf } from './feeds/agent-feeds.ts';
import type { ListedTasks, ListOptions } from './feeds/task-feed.ts';
import { useFeed } from './use-feed.ts';

/** The tasks of an agent as they are now. */
export interface UsedTasks extends ListedTasks {
  /** Asks for one page more. */
  readonly more: () => void;
  /** Reads the list at once. */
  readonly refresh: () => void;
}

/**
 * Lists the caller's tasks, the newest change first, while the component is mounted and the page is visible. A2A has no
 * subscription to lists: it is read again after `pollMs`, and at once after a change that this page sees.
 */
export function useTasks(agent: AgentClient | undefined, options: ListOptions = {}): UsedTasks {
  const key = JSON.stringify(options);
  const feed = useMemo(() => agent && feedsOf(agent).list(JSON.parse(key)), [agent, key]);
  const listed = useFeed(feed, idle);
  return { ...listed, more: feed?.more ?? nothing, refresh: feed?.refresh ?? nothing };
}

const idle: ListedTasks = { tasks: [], hasMore: false, connection: 'idle', error: undefined };
const nothing = () => {};
