import type { CallbackOpened, CallbackReceived, MemoryChanged, TurnLogged } from '../facts/facts.ts';
import type { QuestionLink } from '../facts/question-link.ts';
import { changeable, type Own, setMember, withMember } from '../values/own.ts';
import { weigh } from '../values/weigh.ts';

/** A value that the agent waits for, or got, from outside. */
export interface Callback {
  readonly name: string;
  /** The turn that asked for it. */
  readonly turn: number;
  readonly secretHash?: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly expiresAt: string;
  readonly schema?: unknown;
  readonly answers?: QuestionLink;
  /** When the value came. Absent: it did not come yet. */
  readonly receivedAt?: string;
  readonly value?: unknown;
}

/** What the agent keeps for its later turns. Look up names with `Object.hasOwn`: they may be any text. */
export interface AgentRecord {
  readonly memory: Readonly<Record<string, unknown>>;
  /** Results of the steps that are kept for the whole task, by name. */
  readonly steps: Readonly<Record<string, unknown>>;
  /** The approximate size of memory and steps as JSON, in bytes. */
  readonly memoryBytes: number;
  /** By id. */
  readonly callbacks: Readonly<Record<string, Callback>>;
  /** How much its turns logged: the lines are in the log only. Absent if they logged nothing. */
  readonly logged?: { readonly lines: number; readonly bytes: number; readonly full?: true };
}

const nothing: AgentRecord = Object.freeze({
  memory: Object.freeze({}),
  steps: Object.freeze({}),
  memoryBytes: 0,
  callbacks: Object.freeze({}),
});

/** The approximate size of a member as JSON, in bytes; 0 if the record does not have it. */
export const sizeOf = (record: Readonly<Record<string, unknown>>, name: string): number =>
  Object.hasOwn(record, name) ? weigh({ [name]: record[name] }) : 0;

/** Keeps the changes of a fact. */
export function remember(
  agent: AgentRecord = nothing,
  { changes, removed = [] }: MemoryChanged,
  own?: Own,
): AgentRecord {
  const memory = changeable(agent.memory, own);
  let { memoryBytes } = agent;
  for (const [name, value] of Object.entries(changes)) {
    memoryBytes += sizeOf(changes, name) - sizeOf(memory, name);
    setMember(memory, name, value);
  }
  for (const name of removed) {
    memoryBytes -= sizeOf(memory, name);
    delete memory[name];
  }
  return { ...agent, memory, memoryBytes };
}

/** Keeps the result of a step for the whole task. */
export function keepStep(
  agent: AgentRecord = nothing,
  name: string,
  result: unknown,
  own?: Own,
): AgentRecord {
  const before = sizeOf(agent.steps, name);
  const steps = withMember(agent.steps, name, result, own);
  return { ...agent, steps, memoryBytes: agent.memoryBytes + sizeOf(steps, name) - before };
}

/** Counts lines that were logged. */
export function countLines(agent: AgentRecord = nothing, { lines, full }: TurnLogged): AgentRecord {
  const { logged } = agent;
  const bytes = lines.reduce((sum, line) => sum + weigh(line), logged?.bytes ?? 0);
  const isFull = full ?? logged?.full;
  return {
    ...agent,
    logged: { lines: (logged?.lines ?? 0) + lines.length, bytes, ...(isFull && { full: isFull }) },
  };
}

/** Keeps that the agent waits for a value from outside. */
export function openCallback(agent: AgentRecord = nothing, fact: CallbackOpened, own?: Own): AgentRecord {
  const { id, type: _, format: __, at: ___, ...callback } = fact;
  return { ...agent, callbacks: withMember(agent.callbacks, id, callback, own) };
}

/** Keeps the value. The first one counts, and one that the agent did not ask for changes nothing. */
export function receiveCallback(
  agent: AgentRecord | undefined,
  { id, at, value = null }: CallbackReceived,
  own?: Own,
): AgentRecord | undefined {
  const callback = callbackOf(agent, id);
  if (!agent || !callback || callback.receivedAt !== undefined) return agent;
  const received = { ...callback, receivedAt: at, value };
  return { ...agent, callbacks: withMember(agent.callbacks, id, received, own) };
}

/** The callback with this id, if there is one. */
export const callbackOf = (agent: AgentRecord | undefined, id: string): Callback | undefined =>
  agent && Object.hasOwn(agent.callbacks, id) ? agent.callbacks[id] : undefined;
