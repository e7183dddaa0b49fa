import {
  type Agent,
  type AgentServerOptions,
  type Answer,
  type CardInput,
  isTaskAgent,
  type TaskUpdate,
  type Turn,
  taskAgent,
  type Updates,
} from '@batonjs/server';

/** An agent with its card: what `createAgentServer` takes, and what extensions change. */
export type Extendable = Pick<AgentServerOptions, 'agent' | 'card'>;

/** Adds something to an agent and says so in its card. */
export type Extension = (extendable: Extendable) => Extendable;

/**
 * An agent with extensions, each around those before it.
 *
 * ```ts
 * createAgentServer({ ...extend({ card, agent }, formInput, taskProgress, taskError), store });
 * ```
 */
export const extend = (extendable: Extendable, ...extensions: readonly Extension[]): Extendable =>
  extensions.reduce((extended, extension) => extension(extended), extendable);

/** The card with an extension declared. Spec: §4.6. */
export const declare = (
  card: CardInput,
  extension: {
    readonly uri: string;
    readonly description: string;
    readonly params?: Record<string, unknown>;
  },
): CardInput => ({
  ...card,
  capabilities: {
    ...card.capabilities,
    extensions: [...(card.capabilities?.extensions ?? []), extension],
  },
});

/** An agent that does something around another. One that answers with tasks only stays so. */
export function around(agent: Agent, wrap: (turn: Turn, agent: Agent) => Answer | Promise<Answer>): Agent {
  if (!isTaskAgent(agent)) return (turn) => wrap(turn, agent);
  return taskAgent(async function* (turn) {
    yield* (await wrap(turn, agent)) as Updates;
  });
}

/** An agent whose updates are changed on their way. */
export const changing = (agent: Agent, change: (update: TaskUpdate, turn: Turn) => TaskUpdate): Agent =>
  around(agent, async (turn, inner) => {
    const answer = await inner(turn);
    return Symbol.asyncIterator in answer ? changed(answer, (update) => change(update, turn)) : answer;
  });

/** The updates, each changed. What is thrown at a `yield` arrives at the `yield` inside. */
export async function* changed(
  updates: AsyncIterable<TaskUpdate>,
  change: (update: TaskUpdate) => TaskUpdate,
): Updates {
  const iterator = updates[Symbol.asyncIterator]();
  try {
    let next = await iterator.next();
    while (!next.done) {
      const update = change(next.value);
      let refusal: { error: unknown } | undefined;
      try {
        yield update;
      } catch (error) {
        refusal = { error };
      }
      if (refusal && !iterator.throw) throw refusal.error;
      next = await (refusal ? iterator.throw!(refusal.error) : iterator.next());
    }
  } finally {
    await iterator.return?.();
  }
}

/** An update whose status message has metadata under the URI of an extension, and names the extension. */
export function mark(update: TaskUpdate, uri: string, value: unknown): TaskUpdate {
  if (!('status' in update) || !update.status.message) return update;
  const { message } = update.status;
  const extensions = [...new Set([...(message.extensions ?? []), uri])];
  const marked = { ...message, extensions, metadata: { ...message.metadata, [uri]: value } };
  return { ...update, status: { ...update.status, message: marked } };
}

/** Whether an update is a status with one of these states. */
export const isStatus = <U extends TaskUpdate>(
  update: U,
  ...states: readonly string[]
): update is Extract<U, { status: unknown }> => 'status' in update && states.includes(update.status.state);
