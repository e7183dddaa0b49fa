import type { AgentReply, MessageInput } from '@batonjs/client';
import type { Struct, Task } from '@batonjs/protocol';
import type { Answer, Logger, TaskUpdate, Turn } from '@batonjs/server';
import type { Agents, Callee } from './agents/agents.ts';
import type { Relay } from './children/relay.ts';

/** What calls need besides their turn. */
export interface CallSettings {
  readonly agents: Agents;
  readonly limits: CallLimits;
  /** How long the agents of children may take to cancel them, in milliseconds. */
  readonly cancelMs: number;
  readonly logger: Logger;
}

/** What the calls of one turn share. */
export interface CallScope extends CallSettings {
  readonly turn: Turn;
  /** Writes an update of the task. Resolves when it is in the log. */
  readonly emit: (update: TaskUpdate) => Promise<void>;
  /** Aborted with that of the turn, and when the task ends while a call runs. */
  readonly signal: AbortSignal;
  /** The calls whose children wait for an authorization, of which this task was told. Shared by all calls of the turn. */
  readonly authorizing: Set<string>;
}

/** The limits of calls. */
export interface CallLimits {
  readonly depth: number;
  readonly calls: number;
  /** How long an agent may be out of reach, in milliseconds. */
  readonly unreachableMs: number;
}

/** How another agent is called. */
export interface CallOptions {
  /** Names the call within the task: 1 to 200 characters, used once in a turn. The same name is the same child. */
  readonly name: string;
  /** The context of the child. Default: one of its own, derived from the task and the name. */
  readonly contextId?: string | undefined;
  /** Ids of more tasks that the message refers to. */
  readonly references?: readonly string[] | undefined;
  /** The metadata of the request that starts the child. */
  readonly metadata?: Struct | undefined;
  /** More extensions to activate, where the agent offers them. */
  readonly extensions?: readonly string[] | undefined;
  /**
   * Milliseconds from the first attempt of the call, questions included. Then the child is canceled and the call fails
   * with `TIMEOUT`. Only looked at while a turn runs. Default: as long as the task may take.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Answers a question of the child (INPUT_REQUIRED). Without it, or where it returns undefined, the question becomes
   * one of this task: the turn ends, the user's answer starts the next one, and the call passes it on.
   */
  readonly onQuestion?:
    | ((child: Task) => MessageInput | undefined | Promise<MessageInput | undefined>)
    | undefined;
  /** What of the child's events becomes updates of this task. Default `relayProgress`. */
  readonly relay?: Relay | undefined;
  /**
   * Whether the message may be sent again to an agent without idempotency after an attempt of which it is not known
   * whether the agent received it: the agent may then do the work twice. Default false: `OUTCOME_UNKNOWN`.
   */
  readonly resend?: boolean | undefined;
}

/**
 * Starts a task at another agent, or attaches to the one that this name started before, in this turn, an earlier one or
 * one of a process that died. Resolves to how it ended (COMPLETED, FAILED, …; without `history`), or to the message
 * that the agent answered with. Rejects with a `CallError`; with the reason of `turn.signal` when that is aborted, as
 * it is after a question too; with `TypeError` for a name that was used in the turn already.
 */
export type Call = (agent: Callee, input: MessageInput, options: CallOptions) => Promise<AgentReply>;

/** A turn that can call other agents. */
export interface CallingTurn extends Turn {
  readonly call: Call;
}

/** An agent that calls others. After a question of a child it runs again from the top, as with every message. */
export type CallingAgent = (turn: CallingTurn) => Answer | Promise<Answer>;
