import { callersOf, scopeOf } from '@batonjs/server/internals';
import type { RecordStore } from '@batonjs/store';

/** The tasks of a caller, and what it is called in lists. */
export type CallerScope = ReturnType<typeof callerScope>;

/** The scope of a caller of an agent, by default of those without authentication. Its label is its name, with its tenant. */
export function callerScope(
  queue: string,
  { label, tenant, caller }: Partial<Record<'label' | 'tenant' | 'caller', string | undefined>> = {},
) {
  return {
    label: label ?? ([caller, tenant].filter(Boolean).join(' at ') || 'anonymous callers'),
    scope: scopeOf(queue, tenant, caller === undefined ? undefined : { scope: caller }),
    ...{ tenant, caller },
  };
}

/** Of how many callers tasks are listed at once: those that are known longest. */
export const mostCallers = 200;

/** The callers of whom an agent has had a task, the first one first, at most ten thousand. */
export const knownCallers = async (store: RecordStore, queue: string): Promise<readonly CallerScope[]> =>
  (await callersOf(store, queue)).map(({ scope, ...caller }) => ({ ...callerScope(queue, caller), scope }));
