import type { Message } from '@batonjs/protocol';
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

/** An agent with its card. Extensions wrap it; `createAgentServer` accepts it. */
export type Extendable = Pick<AgentServerOptions, 'agent' | 'card'>;

/** Wraps an agent and declares the extension in its card. */
export type Extension = (extendable: Extendable) => Extendable;

/**
 * Applies extensions to an agent. Each one wraps the result of the previous ones.
 *
 * ```ts
 * const greeter: Extendable = { card: { name: 'Greeter', description: 'Says hello' }, agent: () => reply('Hello!') };
 * const { card, agent } = extend(greeter, formInput, taskProgress, taskError);
 * ```
 */
export function extend(extendable: Extendable, ...extensions: readonly Extension[]): Extendable {
  const extended = extensions.reduce((before, extension) => extension(before), extendable);
  const { agent, card } = extended;
  // The function that was given may be used elsewhere too.
  if (agent !== extendable.agent)
    Object.assign(agent, { [marked]: card.capabilities?.extensions?.map(({ uri }) => uri) });
  return extended;
}

/** By this the server compares a worker whose agent was not extended with a server whose agent was. */
const marked = Symbol.for('batonjs.extensions');

/** Adds an extension to the card. Spec: §4.6. */
export const declare = (
  card: CardInput,
  extension: {
    readonly uri: string;
    readonly description: string;
    readonly params?: Record<string, unknown>;
  },
): CardInput => ({
  ...card,
  capabilities: { ...card.capabilities, extensions: [...(card.capabilities?.extensions ?? []), extension] },
});

/** Wraps an agent. An agent that always answers with a task keeps that property. */
export function around(agent: Agent, wrap: (turn: Turn, agent: Agent) => Answer | Promise<Answer>): Agent {
  if (!isTaskAgent(agent)) return (turn) => wrap(turn, agent);
  return taskAgent(async function* (turn) {
    yield* (await wrap(turn, agent)) as Updates;
  });
}

/** Answers a turn without the agent. What the agent asked for with `wakeAt` stays: it has no other turn to ask again. */
export async function* answerFor(turn: Turn, update: TaskUpdate): Updates {
  if (turn.replacedWake) await turn.wakeAt(turn.replacedWake);
  yield update;
}

/** Wraps an agent and changes its updates. */
export const changeUpdates = (agent: Agent, change: (update: TaskUpdate, turn: Turn) => TaskUpdate): Agent =>
  around(agent, async (turn, inner) => {
    const answer = await inner(turn);
    return Symbol.asyncIterator in answer ? mapUpdates(answer, (update) => change(update, turn)) : answer;
  });

/** Changes each update. An error thrown at the outer `yield` is thrown at the agent's own `yield`. */
export async function* mapUpdates(
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

/**
 * The turn with its messages in another form, and with their ids. It inherits all other members, so that their getters
 * run only when they are used, and read these messages.
 */
export function withMessages(turn: Turn, messages: readonly Message[]): Turn {
  // Not the last: later messages may wait for the next turn, and a turn that runs again has messages of its own.
  const { messageId } = turn.message;
  const message = messages.findLast((each) => each.messageId === messageId) ?? turn.message;
  return Object.create(turn, {
    messages: { value: messages, enumerable: true },
    message: { value: message, enumerable: true },
  });
}

/** Adds metadata under an extension's URI to the status message of an update, and lists the extension there. */
export function addToMessage(update: TaskUpdate, uri: string, value: unknown): TaskUpdate {
  if (!('status' in update) || !update.status.message) return update;
  const { message } = update.status;
  const extensions = [...new Set([...(message.extensions ?? []), uri])];
  const marked = { ...message, extensions, metadata: { ...message.metadata, [uri]: value } };
  return { ...update, status: { ...update.status, message: marked } };
}

/** The update without the parts of a media type in its status message, and without the extension there. */
export function withoutParts(update: TaskUpdate, type: string, uri: string): TaskUpdate {
  if (!('status' in update) || !update.status.message) return update;
  const { extensions, parts, ...message } = update.status.message;
  const left = parts.filter(({ mediaType }) => mediaType !== type);
  if (left.length === parts.length) return update;
  const others = extensions?.filter((other) => other !== uri) ?? [];
  const plain = { ...message, parts: left, ...(others.length > 0 && { extensions: others }) };
  return { ...update, status: { ...update.status, message: plain } };
}

/** Whether an update sets the status to one of these states. */
export const isStatus = <U extends TaskUpdate>(
  update: U,
  ...states: readonly string[]
): update is Extract<U, { status: unknown }> => 'status' in update && states.includes(update.status.state);
