import type { ListedState, TaskFilter } from '../api/task.ts';
import { RequestError } from '../http/reply.ts';
import { states } from '../tasks/task-source.ts';

/** The filter of a list from the query of a request. Throws a `RequestError` for a state that does not exist. */
export function readFilter(query: URLSearchParams): TaskFilter {
  const state = query.get('state');
  if (state && !(states as readonly string[]).includes(state))
    throw new RequestError(400, `There is no state ${state}`);
  const contextId = query.get('contextId');
  const text = query.get('text');
  const maxAgeMs = readNumber(query, 'maxAgeMs');
  const all: { readonly [Name in keyof Required<TaskFilter>]: TaskFilter[Name] | undefined } = {
    state: (state || undefined) as ListedState | undefined,
    contextId: contextId || undefined,
    text: text || undefined,
    maxAgeMs,
    scope: readNumber(query, 'scope') ?? 0,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as TaskFilter;
}

/** A whole number of the query; undefined without one. Throws a `RequestError` for anything else. */
export function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new RequestError(400, `${name} must be a whole number`);
}
