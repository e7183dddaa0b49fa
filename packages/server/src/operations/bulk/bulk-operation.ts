import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import { scopeOf } from '../call/call-context.ts';
import type { Dependencies } from '../call/dependencies.ts';
import type { BulkPace, BulkProgress, BulkRequest } from './bulk.ts';
import { bulkTasks } from './bulk-tasks.ts';

/** An action, the tasks of a caller that it is for, and its pace; or the run that goes on. */
export type BulkOptions = BulkPace &
  (
    | (BulkRequest & {
        /**
         * The `scope` that `authenticate` returned for the caller; without it, callers that are not authenticated. Of
         * several: one run over the tasks of one after another.
         */
        readonly caller?: string | readonly string[];
        readonly tenant?: string;
        readonly resume?: undefined;
      })
    /** The id of a run that did not end. */
    | { readonly resume: string }
  );

/** Does one thing to many tasks. Not an operation of the protocol. The run also ends when the server closes. */
export async function* bulkOperation(
  options: BulkOptions,
  { store, clock, push, isOpen, options: { queue, schedule, clocks, limits } }: Dependencies,
  closing: AbortSignal,
): AsyncGenerator<BulkProgress, void, undefined> {
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  const { dryRun, perSecond, signal, ...asked } = options;
  const pace: BulkPace = {
    ...(dryRun !== undefined && { dryRun }),
    ...(perSecond !== undefined && { perSecond }),
    signal: signal ? AbortSignal.any([signal, closing]) : closing,
  };
  const source = { store, clock, queue, schedule, clocks, limits, webhooks: push?.store };
  if (asked.resume !== undefined) return yield* bulkTasks({ resume: asked.resume }, pace, source);
  const { caller = '', tenant, resume: _, ...request } = asked;
  const callers = typeof caller === 'string' ? [caller] : caller;
  const [scope, ...others] = new Set(callers.map((one) => scopeOf(queue, tenant, { scope: one })));
  if (scope === undefined) throw invalidParams([{ field: 'caller', description: 'names no caller' }]);
  const by = others.length === 0 ? callers[0] : undefined;
  yield* bulkTasks({ scope, others, request: { ...(by !== undefined && { by }), ...request } }, pace, source);
}
