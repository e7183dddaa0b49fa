import type { AgentClient } from '@batonjs/client';
import type { OnError } from '../translation/failures.ts';
import type { LogEntry } from './timeline.ts';

/** An agent that is being written, as an assistant may see it. */
export interface Development {
  /** A client of the agent as it runs now. Rejects with a `NotRunning` that says why it does not run. */
  agent(): Promise<AgentClient>;
  /** The lines that its process printed since its start, oldest first. */
  printed(): readonly string[];
  /** Facts of the log of a task after a position; undefined if there is no such task. */
  entries(taskId: string, after: number, limit: number): Promise<readonly LogEntry[] | undefined>;
  /** Forks a task from a point. Resolves to the id of the new one. */
  fork(taskId: string, options: { readonly from: string; readonly message?: string }): Promise<string>;
  /** The folder with the pages of the installed version; undefined if they are not installed. */
  docs(): string | undefined;
  /** Sees the errors that the assistant is not shown. */
  onError?: OnError;
}
