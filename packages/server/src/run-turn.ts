import type { Metadata, TaskUpdate } from '@batonjs/lifecycle';
import type { Message, Part, Task } from '@batonjs/protocol';
import type { Agent, Claims, References, Turn } from './agent.ts';
import { toParts } from './builders.ts';
import { textOf, valuesOf } from './said.ts';

/** What a turn in a unit test may be given besides its message. */
export interface RunTurnOptions {
  readonly task?: Task;
  /** What was said before, oldest first. */
  readonly messages?: readonly Message[];
  /** Messages that arrive while the turn runs. */
  readonly inbox?: readonly Message[];
  readonly contextId?: string;
  readonly caller?: Claims;
  readonly metadata?: Metadata;
  readonly extensions?: readonly string[];
  readonly acceptedOutputModes?: readonly string[];
  readonly references?: Partial<References>;
  readonly contextTasks?: readonly Task[];
  readonly attempt?: number;
  /** Results of steps that an earlier attempt completed. */
  readonly steps?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** What an agent did with a turn: the message it answered with, or the updates it yielded. */
export interface TurnOutcome {
  readonly message?: Message;
  readonly updates: readonly TaskUpdate[];
  /** Results of the steps it completed. */
  readonly steps: Readonly<Record<string, unknown>>;
}

/**
 * Runs one turn of an agent without server and store, for unit tests. Text and parts become the user's message. Rejects
 * with what the agent throws. Rules of the lifecycle are not applied.
 */
export async function runTurn(
  agent: Agent,
  said: string | readonly Part[] | Message,
  options: RunTurnOptions = {},
): Promise<TurnOutcome> {
  const contextId = options.contextId ?? options.task?.contextId ?? 'context';
  const taskId = options.task?.id ?? 'task';
  const message = toUserMessage(said, contextId);
  const messages = [...(options.messages ?? []), message];
  const steps: Record<string, unknown> = { ...options.steps };
  const waiting = [...(options.inbox ?? [])];
  const take = async () => waiting.shift();
  const turn: Turn = {
    message,
    messages,
    text: textOf(message),
    values: valuesOf(messages),
    contextId,
    taskId,
    task: options.task,
    context: {
      id: contextId,
      tasks: async () => [...(options.contextTasks ?? [])],
      messages: async () => [],
    },
    references: async () => ({
      tasks: [],
      artifacts: [],
      missing: options.references ? [] : (message.referenceTaskIds ?? []),
      ...options.references,
    }),
    caller: options.caller ?? {},
    metadata: options.metadata ?? {},
    acceptedOutputModes: options.acceptedOutputModes ?? [],
    extensions: options.extensions ?? [],
    attempt: options.attempt ?? 1,
    async step(name, fn) {
      if (!Object.hasOwn(steps, name)) steps[name] = await fn();
      return steps[name] as Awaited<ReturnType<typeof fn>>;
    },
    inbox: {
      take,
      get size() {
        return waiting.length;
      },
      async *[Symbol.asyncIterator]() {
        for (let next = await take(); next; next = await take()) yield next;
      },
    },
    signal: options.signal ?? new AbortController().signal,
    fence: 1,
    wakeKey: 'wake',
  };
  const answer = await agent(turn);
  if (!(Symbol.asyncIterator in answer)) return { message: answer, updates: [], steps };
  const updates: TaskUpdate[] = [];
  for await (const update of answer) updates.push(update);
  return { updates, steps };
}

function toUserMessage(said: string | readonly Part[] | Message, contextId: string): Message {
  if (typeof said !== 'string' && 'messageId' in said) return { contextId, ...said };
  return { messageId: crypto.randomUUID(), role: 'ROLE_USER', contextId, parts: toParts(said) };
}
