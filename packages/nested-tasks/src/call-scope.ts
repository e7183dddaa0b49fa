import type { Logger, TaskUpdate, Turn } from '@batonjs/server';
import type { Agents } from './agents/agents.ts';

/** What the calls of one turn share. */
export interface CallScope {
  readonly turn: Turn;
  readonly agents: Agents;
  /** Writes an update of the task. Resolves when it is in the log. */
  readonly emit: (update: TaskUpdate) => Promise<void>;
  /** Aborted with that of the turn, and when the task ends while a call runs. */
  readonly signal: AbortSignal;
  readonly limits: CallLimits;
  /** The calls whose children wait for an authorization, of which this task was told. Shared by all calls of the turn. */
  readonly authorizing: Set<string>;
  readonly logger: Logger;
}

/** The limits of calls. */
export interface CallLimits {
  readonly depth: number;
  readonly calls: number;
  /** How long an agent may be out of reach, in milliseconds. */
  readonly unreachableMs: number;
}
