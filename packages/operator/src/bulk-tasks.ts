import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { insideOf } from '@batonjs/server/internals';
import type { BulkPace, BulkProgress, BulkRequest } from './bulk/bulk.ts';
import { bulkWork } from './bulk/bulk-work.ts';
import { type Operated, type Source, scopeIn, sourceOf } from './operated.ts';

/** An action, the tasks of a caller that it is for, and its pace; or the run that goes on. */
export type BulkOptions = BulkPace &
  (
    | (BulkRequest & {
        /**
         * The `scope` that `authenticate` returned for the caller; without it, callers that are not authenticated. Of
         * several: one run over the tasks of one after another.
         */
        readonly caller?: string | readonly string[] | undefined;
        readonly tenant?: string | undefined;
        readonly resume?: undefined;
      })
    /** The id of a run that did not end. */
    | { readonly resume: string }
  );

/**
 * Cancels, forks or deletes many tasks, or tries their webhooks again, and yields how far it is. Tasks that begin
 * meanwhile are left alone. The run is recorded in the store: `{ resume: id }` goes on with one that did not end. It also
 * ends when the server closes. Throws an `A2AError` for what cannot be done at all.
 */
export async function* bulkTasks(
  agent: Operated,
  options: BulkOptions,
): AsyncGenerator<BulkProgress, void, undefined> {
  const closing = insideOf(agent)?.closing;
  if (closing?.aborted) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  const source = sourceOf(agent);
  const { dryRun, perSecond, signal, ...asked } = options;
  const signals = [signal, closing].filter((one) => one !== undefined);
  const pace: BulkPace = { dryRun, perSecond, signal: AbortSignal.any(signals) };
  yield* await bulkWork(toRun(asked, source), pace, source);
}

/** The scopes of a new run, or the run that goes on. */
function toRun(asked: BulkOptions, source: Source): Parameters<typeof bulkWork>[0] {
  if (asked.resume !== undefined) return { resume: asked.resume };
  const { caller = '', tenant, resume: _, ...request } = asked;
  const callers = typeof caller === 'string' ? [caller] : caller;
  const [scope, ...others] = new Set(callers.map((one) => scopeIn(source, { caller: one, tenant })));
  if (scope === undefined) throw invalidParams([{ field: 'caller', description: 'names no caller' }]);
  const by = others.length === 0 ? callers[0] : undefined;
  return { scope, others, request: { ...(by !== undefined && { by }), ...request } };
}
