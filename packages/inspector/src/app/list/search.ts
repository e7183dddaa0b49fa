import { readSearch } from '@batonjs/operator/search';
import type { ListedState, TaskFilter } from '../../api/task.ts';

/** What stands in the address of a list: `q`, `state`, `age`, `context`, `caller`, `code`, `scope`. */
export function filterOf(query: URLSearchParams): TaskFilter {
  const state = query.get('state');
  const age = Number(query.get('age') ?? 0);
  const context = query.get('context');
  const caller = query.get('caller');
  const search = readSearch(query.get('q') ?? '');
  const code = query.get('code');
  return {
    ...(query.has('scope') && { scope: Number(query.get('scope')) }),
    ...(state === 'unserved' && { unserved: true }),
    ...(state &&
      state !== 'unserved' && {
        state: `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}` as ListedState,
      }),
    ...(age > 0 && { maxAgeMs: age }),
    ...(context && { contextId: context }),
    ...(caller && { caller }),
    ...(code && { code }),
    // What stands in the box is what a person sees.
    ...search,
  };
}
