import { labelProblem } from '@batonjs/lifecycle';
import { rowTests } from '@batonjs/operator/search';
import type { ListTasksRequest } from '@batonjs/protocol';
import type { TaskQuery } from '@batonjs/store';
import type { AgentStore } from '../agents/inspected.ts';
import { type ListedState, states, type TaskFilter, type TaskRow } from '../api/task.ts';
import { RequestError, readNumber } from '../http/reply.ts';

/** What one member of a filter means. */
interface Meaning<Wanted> {
  /** Its value in the query of a request; undefined or nothing without one. Throws a `RequestError` for a wrong one. */
  readonly read: (query: URLSearchParams, name: string) => Wanted | '' | null | undefined;
  /** What an agent is asked for. Absent: an agent cannot filter by it. */
  readonly ofAgent?: (wanted: Wanted) => Partial<ListTasksRequest>;
  /** What a store is asked for. Absent: a store cannot filter by it. */
  readonly ofStore?: (wanted: Wanted) => Partial<TaskQuery>;
  /** Whether a row has it, for lists that neither of them makes. */
  readonly isMet: (row: TaskRow, wanted: Wanted) => boolean;
}

const nonEmpty = (texts: readonly string[]) => (texts.length > 0 ? texts : undefined);
const readText = (query: URLSearchParams, name: string) => query.get(name);
const since = (maxAgeMs: number) => new Date(Date.now() - maxAgeMs).toISOString();

/** Every filter of the inspector: how agents and stores are asked for it. */
const meanings: { readonly [Name in keyof TaskFilter]-?: Meaning<NonNullable<TaskFilter[Name]>> } = {
  state: {
    read: readState,
    ofAgent: (state) => ({ status: state }),
    ofStore: (state) => ({ state }),
    isMet: (row, state) => row.state === state,
  },
  contextId: {
    read: readText,
    ofAgent: (contextId) => ({ contextId }),
    ofStore: (contextId) => ({ contextId }),
    isMet: (row, contextId) => row.contextId === contextId,
  },
  labels: {
    read: labelsIn,
    ofAgent: (labels) => ({ labels: [...labels] }),
    ofStore: (labels) => ({ labels }),
    isMet: (row, labels) => labels.every((label) => row.labels?.includes(label)),
  },
  notLabels: {
    read: (query, name) => nonEmpty(query.getAll(name).filter(Boolean)),
    isMet: rowTests.notLabels,
  },
  took: { read: readText, isMet: rowTests.took },
  cost: { read: readText, isMet: rowTests.cost },
  skill: {
    read: readText,
    ofAgent: (skill) => ({ skill }),
    ofStore: (skill) => ({ skill }),
    isMet: () => false,
  },
  code: {
    read: readText,
    ofAgent: (code) => ({ code }),
    ofStore: (code) => ({ code }),
    isMet: (row, code) => row.code === code,
  },
  text: { read: readText, isMet: rowTests.text },
  maxAgeMs: {
    read: readNumber,
    ofAgent: (maxAgeMs) => ({ statusTimestampAfter: since(maxAgeMs) }),
    ofStore: (maxAgeMs) => ({ statusSince: since(maxAgeMs) }),
    isMet: ({ statusAt = '' }, maxAgeMs) => Date.parse(statusAt) >= Date.now() - maxAgeMs,
  },
  unserved: {
    read: (query, name) => (query.get(name) === 'true' ? true : undefined),
    isMet: ({ waitsFor }) => waitsFor !== undefined,
  },
  // Becomes a scope before the list is read.
  caller: { read: readText, isMet: () => true },
  // An agent shows the scope of its caller; a store is asked in that scope.
  scope: { read: (query, name) => readNumber(query, name), isMet: () => true },
};

interface AnyMeaning extends Omit<Meaning<never>, 'read'> {
  readonly read: Meaning<unknown>['read'];
}

const names = Object.keys(meanings) as readonly (keyof TaskFilter)[];
const all = names.map((name): readonly [keyof TaskFilter, AnyMeaning] => [name, meanings[name]]);

/** All that the query names. Throws a `RequestError` for one that no task can have. */
function labelsIn(query: URLSearchParams): readonly string[] | undefined {
  const labels = query.getAll('labels').filter((label) => label !== '');
  const problem = labelProblem(labels);
  if (problem) throw new RequestError(400, problem);
  return nonEmpty(labels);
}

function readState(query: URLSearchParams, name: string): ListedState | '' | null {
  const state = query.get(name);
  if (state && !(states as readonly string[]).includes(state))
    throw new RequestError(400, `There is no state ${state}`);
  return state as ListedState | '' | null;
}

/** The filter in the query of a request. Throws a `RequestError` for a state that does not exist. */
export const readFilter = (query: URLSearchParams): TaskFilter =>
  Object.fromEntries(
    all
      .map(([name, { read }]) => [name, read(query, name)] as const)
      .filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );

const given = (filter: TaskFilter) =>
  all.flatMap(([name, meaning]) => (filter[name] ? [{ ...meaning, wanted: filter[name] as never }] : []));

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

/** What an agent is asked for. */
export const requestOf = (filter: TaskFilter): Partial<ListTasksRequest> =>
  Object.assign({}, ...given(filter).map(({ ofAgent, wanted }) => ofAgent?.(wanted)));

/** What a store is asked for. */
export const queryOf = (filter: TaskFilter): Partial<TaskQuery> =>
  Object.assign({}, ...given(filter).map(({ ofStore, wanted }) => ofStore?.(wanted)));

/** Whether a row is in a list. */
export const isIn =
  (filter: TaskFilter): ((row: TaskRow) => boolean) =>
  (row) =>
    given(filter).every(({ isMet, wanted }) => isMet(row, wanted));
