import type { CallbackOpened, CallbackReceived, MemoryChanged, TurnLogged } from '../facts.ts';
import { changeable, type Own, setMember, withMember } from '../values/own.ts';
import { weigh } from '../values/weigh.ts';
import type { QuestionLink } from './question-link.ts';

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
export interface Kept {
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

const nothing: Kept = Object.freeze({
  memory: Object.freeze({}),
  steps: Object.freeze({}),
  memoryBytes: 0,
  callbacks: Object.freeze({}),
});

/** The approximate size of a member as JSON, in bytes; 0 if the record does not have it. */
export const sizeOf = (record: Readonly<Record<string, unknown>>, name: string): number =>
  Object.hasOwn(record, name) ? weigh({ [name]: record[name] }) : 0;

/** Keeps the changes of a fact. */
export function remember(kept: Kept = nothing, { changes, removed = [] }: MemoryChanged, own?: Own): Kept {
  const memory = changeable(kept.memory, own);
  let { memoryBytes } = kept;
  for (const [name, value] of Object.entries(changes)) {
    memoryBytes += sizeOf(changes, name) - sizeOf(memory, name);
    setMember(memory, name, value);
  }
  for (const name of removed) {
    memoryBytes -= sizeOf(memory, name);
    delete memory[name];
  }
  return { ...kept, memory, memoryBytes };
}

/** Keeps the result of a step for the whole task. */
export function keepStep(kept: Kept = nothing, name: string, result: unknown, own?: Own): Kept {
  const before = sizeOf(kept.steps, name);
  const steps = withMember(kept.steps, name, result, own);
  return { ...kept, steps, memoryBytes: kept.memoryBytes + sizeOf(steps, name) - before };
}

/** Counts lines that were logged. */
export function countLines(kept: Kept = nothing, { lines, full }: TurnLogged): Kept {
  const { logged } = kept;
  const bytes = lines.reduce((sum, line) => sum + weigh(line), logged?.bytes ?? 0);
  const isFull = full ?? logged?.full;
  return {
    ...kept,
    logged: { lines: (logged?.lines ?? 0) + lines.length, bytes, ...(isFull && { full: isFull }) },
  };
}

/** Keeps that the agent waits for a value from outside. */
export function openCallback(kept: Kept = nothing, fact: CallbackOpened, own?: Own): Kept {
  const { id, type: _, format: __, at: ___, ...callback } = fact;
  return { ...kept, callbacks: withMember(kept.callbacks, id, callback, own) };
}

/** Keeps the value. The first one counts, and one that the agent did not ask for changes nothing. */
export function receiveCallback(
  kept: Kept | undefined,
  { id, at, value = null }: CallbackReceived,
  own?: Own,
): Kept | undefined {
  const callback = callbackOf(kept, id);
  if (!kept || !callback || callback.receivedAt !== undefined) return kept;
  const received = { ...callback, receivedAt: at, value };
  return { ...kept, callbacks: withMember(kept.callbacks, id, received, own) };
}

/** The callback with this id, if there is one. */
export const callbackOf = (kept: Kept | undefined, id: string): Callback | undefined =>
  kept && Object.hasOwn(kept.callbacks, id) ? kept.callbacks[id] : undefined;
