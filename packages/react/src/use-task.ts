import {
  type AgentClient,
  type AgentReply,
  answer,
  type MessageInput,
  type SendOptions,
} from '@batonjs/client';
import type { Json, Task } from '@batonjs/protocol';
import { useMemo } from 'react';
import { feedsOf } from './feeds/agent-feeds.ts';
import { newMessage } from './feeds/new-message.ts';
import type { FollowedTask } from './feeds/task-feed.ts';
import { useFeed } from './use-feed.ts';

/** A task as it is now, and the operations on it. */
export interface UsedTask extends FollowedTask {
  /** Sends a message to the task. Resolves as soon as the agent has it; the task shows what becomes of it. */
  readonly send: (input: MessageInput, options?: SendOptions) => Promise<AgentReply>;
  /** Answers the question of the task: with text, or with the values of its form. */
  readonly answer: (values: Json) => Promise<AgentReply>;
  readonly cancel: () => Promise<Task>;
}

/**
 * Follows a task, across broken connections and restarts of the server, while the component is mounted. Components that
 * show the same task share one stream. Without an agent or an id, it is idle, and its functions reject.
 */
export function useTask(agent: AgentClient | undefined, taskId: string | undefined): UsedTask {
  const feed = useMemo(
    () => (agent && taskId !== undefined ? feedsOf(agent).task(taskId) : undefined),
    [agent, taskId],
  );
  const followed = useFeed(feed, idle);
  const operations = useMemo(
    () => operationsOf(agent, taskId, () => feed?.get().task),
    [agent, taskId, feed],
  );
  return { ...followed, ...operations };
}

const idle: FollowedTask = { task: undefined, connection: 'idle', error: undefined };

function operationsOf(
  agent: AgentClient | undefined,
  id: string | undefined,
  current: () => Task | undefined,
) {
  const on = () => {
    if (agent && id !== undefined) return { agent, id };
    throw new Error('useTask has no agent or no task yet');
  };
  const sent = (reply: AgentReply) => {
    if (agent && reply.task) feedsOf(agent).onChange(reply.task);
    return reply;
  };
  return {
    async send(input: MessageInput, options?: SendOptions) {
      const { agent, id } = on();
      return sent(
        await agent.send(newMessage(input, { taskId: id }), { returnImmediately: true, ...options }),
      );
    },
    async answer(values: Json) {
      const { agent, id } = on();
      const task = current() ?? (await agent.getTask({ id }));
      return sent(await agent.send(newMessage(answer(task, values)), { returnImmediately: true }));
    },
    async cancel() {
      const { agent, id } = on();
      return agent.cancelTask({ id });
    },
  };
}
