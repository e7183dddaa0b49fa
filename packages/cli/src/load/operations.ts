import type { AgentClient } from '@batonjs/client';

/** What callers do. */
export const kinds = {
  send: 'a message, and the wait for its result',
  stream: 'a message, and its events to the end',
  async: 'a message, answered at once',
  get: 'a task that was sent before',
  list: 'twenty tasks',
} as const;

export type Kind = keyof typeof kinds;

/** How often each is done, of all together. */
export type Mix = Readonly<Partial<Record<Kind, number>>>;

/** One call. `first` is called with the first event of a stream. */
export type Operation = (signal: AbortSignal, first: () => void) => Promise<unknown>;

/** The calls of a mix. A read of a task lists instead, as long as no task is known. */
export function operationsOf(agent: AgentClient, text: string): Readonly<Record<Kind, Operation>> {
  let taskId: string | undefined;
  const known = (task: { readonly id: string } | undefined) => {
    taskId = task?.id ?? taskId;
  };
  const list: Operation = (signal) => agent.listTasks({ pageSize: 20 }, { signal });
  return {
    list,
    get: (signal, first) => (taskId === undefined ? list(signal, first) : agent.task(taskId).get({ signal })),
    send: async (signal) => known((await agent.send(text, { signal })).task),
    async: async (signal) => known((await agent.send(text, { signal, returnImmediately: true })).task),
    async stream(signal, first) {
      const stream = agent.stream(text, { signal });
      let isFirst = true;
      for await (const _ of stream) {
        if (isFirst) first();
        isFirst = false;
      }
      known(stream.task);
    },
  };
}
