import {
  type Command,
  decide,
  evolve,
  type Fact,
  type Head,
  headOf,
  type State,
  toSnapshot,
} from '@batonjs/lifecycle';
import type { Message, Part, TaskState } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';

/** A time of the tests' day, so many seconds after it began. */
export const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

export const text = (value: string): Part => ({ text: value });

/** A client's message, as the server hands it to a log. */
export const said = (messageId: string, more: Partial<Message> = {}): Message => ({
  messageId,
  contextId: 'context',
  role: 'ROLE_USER',
  parts: [text(messageId)],
  ...more,
});

/** An agent's message, as an agent would make it. */
export const reply = (messageId: string, more: Partial<Message> = {}): Message => ({
  messageId,
  role: 'ROLE_AGENT',
  parts: [text(messageId)],
  ...more,
});

export const receive = (messageId: string, more?: Partial<Message>): Command => ({
  type: 'receive',
  message: said(messageId, more),
});
export const create: Command = { type: 'create', taskId: 'task' };
export const startTurn: Command = { type: 'start-turn' };
export const endTurn: Command = { type: 'end-turn' };
export const take = (messageId: string): Command => ({ type: 'take', messageId });
export const wake: Command = { type: 'wake' };
export const wakeAt = (time?: string): Command => ({ type: 'set-wake', time });
/** A client's message that no turn takes before a time. */
export const postpone = (messageId: string, notBefore: string): Command => ({
  type: 'receive',
  message: said(messageId),
  notBefore,
});
export const cancel: Command = { type: 'request-cancel' };
export const answer = (messageId: string, more?: Partial<Message>): Command => ({
  type: 'answer',
  message: reply(messageId, more),
});
/** What the running turn knows of a child from now on. */
export const child = (name: string, more: object = {}): Command => ({
  type: 'update',
  update: { child: { name, agent: 'Another', ...more } },
});
/** What the open turn has completed, by name. */
export const stepsOf = (state: State) => toSnapshot(state).state.openTurn?.steps;
export const step = (name: string, result?: unknown): Command => ({ type: 'complete-step', name, result });
/** Stands in what only operators see, so that a test can search for it in what clients see. */
export const inside = 'for operators only';
/** A line that the agent logs. */
export const logged = (text: string, fields?: Readonly<Record<string, unknown>>): Command => ({
  type: 'log',
  lines: [{ at: at(0), level: 'info', text, ...(fields && { fields }) }],
});
/** A step whose result the whole task keeps. */
export const keptStep = (name: string, result?: unknown): Command => ({
  type: 'complete-step',
  name,
  result,
  keep: 'task',
});
export const failStep = (name: string, retryAt?: string): Command => ({
  type: 'fail-step',
  name,
  message: `${name} failed, ${inside}`,
  retryAt,
});
export const failTurn = (retryAt?: string): Command => ({
  type: 'fail-turn',
  message: `It failed, ${inside}`,
  stack: `Error: It failed, ${inside}`,
  code: inside,
  retryAt,
});
export const pauseTurn = (until: string): Command => ({ type: 'pause-turn', until });
export const remember = (memory: Record<string, unknown>): Command => ({ type: 'change-memory', memory });
export const labelled = (labels: readonly string[]): Command => ({ type: 'update', update: { labels } });
export const openCallback = (id: string, expiresAt: string): Command => ({
  type: 'open-callback',
  name: `of ${id}`,
  id,
  secretHash: inside,
  expiresAt,
  schema: { title: inside },
});
export const receiveCallback = (id: string, value: unknown): Command => ({
  type: 'receive-callback',
  id,
  value,
});

/** The agent reports a state: `to('WORKING')`, with a message of that id if there is one. */
export const to = (state: string, messageId?: string): Command => ({
  type: 'update',
  update: {
    status: {
      state: `TASK_STATE_${state}` as TaskState,
      ...(messageId !== undefined && { message: reply(messageId) }),
    },
  },
});

/** The agent puts out an artifact, or (`append`) more of it. */
export const artifact = (
  artifactId: string,
  parts: string[] = [artifactId],
  more: { append?: boolean; lastChunk?: boolean; metadata?: Record<string, unknown> } = {},
): Command => ({ type: 'update', update: { artifact: { artifactId, parts: parts.map(text) }, ...more } });

/** What became of a log. */
export interface Log {
  readonly facts: readonly Fact[];
  readonly state: State | undefined;
  readonly head: Head | undefined;
}

/** The log that these commands cause, a second apart. */
export function given(...commands: readonly Command[]) {
  const log = commands.reduce(then, { facts: [], state: undefined, head: undefined } satisfies Log as Log);
  const now = at(commands.length);
  return {
    ...log,
    /** Its state; a log without a fact has none. */
    get now(): State {
      if (!log.state) throw new Error('Nothing happened');
      return log.state;
    },
    /** What one more command causes: facts, or the reason why it may not. */
    when: (command: Command, clock = now): readonly Fact[] => decide(log.state, command, clock),
    refuses: (command: Command): string => reasonOf(() => decide(log.state, command, now)),
  };
}

function then(log: Log, command: Command, index: number): Log {
  const facts = decide(log.state, command, at(index));
  return {
    facts: [...log.facts, ...facts],
    state: facts.reduce(evolve as (state: State | undefined, fact: Fact) => State, log.state as State),
    head: facts.reduce<Head | undefined>(headOf, log.head),
  };
}

/** The reason of the `A2AError` that is thrown. */
export function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (A2AError.is(error)) return error.reason;
    throw error;
  }
  throw new Error('Nothing was refused');
}

/** A value as a store gives it back. */
export const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value));
