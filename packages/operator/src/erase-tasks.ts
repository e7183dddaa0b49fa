import { insideOf } from '@batonjs/server/internals';
import type { Erasure } from './erase-in.ts';
import { eraseStored } from './erase-stored.ts';
import { type OfCaller, type Operated, scopeIn, sourceOf } from './operated.ts';

/** Names one task, those of a context, or all of a caller. */
export interface EraseOptions extends OfCaller {
  /** Only this task. */
  readonly taskId?: string | undefined;
  /** Only tasks of this context. */
  readonly contextId?: string | undefined;
  /** How long each task at work is waited for, in milliseconds. Default: `timeouts.cancelMs` of the server, or 10,000. */
  readonly waitMs?: number | undefined;
  /** Nothing more is canceled or waited for. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Deletes a task, the tasks of a context or all tasks of a caller, with their webhooks and all that names them: at once
 * if they have ended, and after a cancel otherwise. Tells how much; calling it again goes on where it ended. Rejects with
 * `UNSUPPORTED_OPERATION` at a store that cannot.
 */
export async function eraseTasks(agent: Operated, options: EraseOptions): Promise<Erasure> {
  const source = sourceOf(agent);
  const { waitMs = insideOf(agent)?.dependencies.options.timeouts.cancelMs ?? 10_000, signal } = options;
  return eraseStored(scopeIn(source, options), options, { waitMs, signal }, source);
}
