import { labelProblem } from '@batonjs/lifecycle';
import { readSearch, rowTests } from '@batonjs/operator/search';
import type { ListTasksRequest } from '@batonjs/protocol';
import type { TaskQuery } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import { type ListedState, states, type TaskFilter, type TaskRow } from '../api/task.ts';
import { RequestError, readNumber } from '../http/reply.ts';

/** The filter in the query of a request. Throws a `RequestError` for a state or a label that no task can have. */
export function readFilter(query: URLSearchParams): TaskFilter {
  const search = readSearch(query.get('q') ?? '');
  const problem = labelProblem(search.labels ?? []);
  if (problem) throw new RequestError(400, problem);
  const state = query.get('state') as ListedState | '' | null;
  if (state && !states.includes(state)) throw new RequestError(400, `There is no state ${state}`);
  const [maxAgeMs, scope] = [readNumber(query, 'maxAgeMs'), readNumber(query, 'scope')];
  const rest = { state, contextId: query.get('contextId'), unserved: query.get('unserved') === 'true' };
  const given = Object.entries({ ...search, ...rest }).filter(([, value]) => value);
  return { ...Object.fromEntries(given), maxAgeMs, scope };
}

/** Whether a row has what a filter says, for lists that neither agents nor stores make. */
const tests: {
  readonly [Name in keyof TaskFilter]-?: (row: TaskRow, wanted: NonNullable<TaskFilter[Name]>) => boolean;
} = {
  ...rowTests,
  state: (row, state) => row.state === state,
  contextId: (row, contextId) => row.contextId === contextId,
  labels: (row, labels) => labels.every((label) => row.labels?.includes(label)),
  // Only agents and stores know it.
  skill: () => false,
  code: (row, code) => row.code === code,
  maxAgeMs: ({ statusAt = '' }, maxAgeMs) => Date.parse(statusAt) >= Date.now() - maxAgeMs,
  unserved: ({ waitsFor }) => waitsFor !== undefined,
  // Becomes a scope before the list is read.
  caller: () => true,
  // An agent shows the scope of its caller; a store is asked in that scope.
  scope: () => true,
};
const names = Object.keys(tests) as readonly (keyof TaskFilter)[];

/** Whether a row is in a list. */
export const isIn =
  (filter: TaskFilter): ((row: TaskRow) => boolean) =>
  (row) =>
    names.every((name) => !filter[name] || tests[name](row, filter[name] as never));

/** The filter for one agent, whose scope has the label of the caller; undefined if none has. */
export function filterFor(
  { store }: { readonly store: Pick<AgentStore, 'scopes'> | undefined },
  filter: TaskFilter,
): TaskFilter | undefined {
  const { caller, ...others } = filter;
  if (caller === undefined) return filter;
  const scope = store?.scopes.findIndex(({ label }) => label === caller) ?? -1;
  return scope < 0 ? undefined : { ...others, scope };
}

const since = (maxAgeMs: number | undefined) =>
  maxAgeMs ? new Date(Date.now() - maxAgeMs).toISOString() : undefined;

const alike = ({ contextId, labels, skill, code }: TaskFilter) => ({
  ...{ contextId, skill, code },
  labels: labels && [...labels],
});

/** What an agent is asked for: all that it can filter by. */
export const requestOf = ({ state, maxAgeMs, ...filter }: TaskFilter): Partial<ListTasksRequest> => ({
  ...alike(filter),
  ...{ status: state || undefined, statusTimestampAfter: since(maxAgeMs) },
});

/** What a store is asked for: all that it can filter by, but a text. */
export const queryOf = ({ state, maxAgeMs, ...filter }: TaskFilter): Partial<TaskQuery> => ({
  ...alike(filter),
  ...{ state: state || undefined, statusSince: since(maxAgeMs) },
});
