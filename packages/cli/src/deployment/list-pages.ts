import { callerScope, isKnownQueue, knownCallers, knownQueues, mostCallers } from '@batonjs/operator';
import {
  listTasks,
  printPlace,
  type RowList,
  readPages,
  readSearch,
  rowTests,
  searchProblem,
  type TaskRow,
  type TaskSearch,
  taskRows,
} from '@batonjs/operator/search';
import type { Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import type { Scope, TaskPage, TaskStore } from '@batonjs/store';
import { usage } from '../errors/cli-error.ts';
import type { FilterFlags } from '../flags/filter-flags.ts';
import type { RunContext } from '../run-context.ts';
import { callerOf, type ScopeFlags, withStore } from './open-store.ts';

export interface ListFlags extends Omit<ScopeFlags, 'store'>, FilterFlags {
  readonly store?: string;
  readonly text?: string;
  readonly allCallers?: boolean;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly watch?: boolean;
}

/** A task as an agent lists it; of a store, with what the store knows besides. */
type Shown = Task & Partial<TaskRow>;

/** A page of tasks as an agent answers, and what only a store knows. */
export interface Page extends Pick<RowList<Shown>, 'tasks' | 'searched'> {
  readonly nextPageToken?: string | undefined;
  readonly totalSize?: number | undefined;
  /** How many tasks of the agent wait for a process. */
  readonly waiting?: number;
  /** The agents that have worked on the store, if this one has not. */
  readonly agents?: readonly { readonly name: string; readonly cards: readonly string[] }[] | undefined;
}

/** What the words and the flags of a command say together. Words count before flags. */
export function searchOf(typed: string, { label = [], text, ...flags }: ListFlags): TaskSearch {
  const problem = searchProblem(typed);
  if (problem) throw usage(problem, 'Quotes around it make it a word');
  const { labels = [], code = flags.code, skill = flags.skill, ...search } = readSearch(typed);
  const words = [text, search.text].filter(Boolean).join(' ');
  return { ...search, code, skill, labels: [...label, ...labels], text: words };
}

/** A page of an agent. It is asked for what it can filter by; words are looked for in its answers. */
export const ofAgent = (
  context: RunContext<ListFlags>,
  { labels = [], skill, code, text, ...others }: TaskSearch,
  isForPerson: boolean,
): Promise<Page> => {
  const { contextId, state, since, pageSize, pageToken: after } = context.options;
  if (Object.keys(others).length > 0 || context.options.allCallers)
    throw usage('No agent says whose tasks are, what they took or cost, or what they lack', 'Give --store');
  return context.call(async (agent, signal) => {
    const list = (pageToken: string | undefined) => {
      // What was said last, for tasks whose status says nothing; of few messages, the first one too.
      const historyLength = text ? 4 : isForPerson ? 1 : undefined;
      const asked = { skill, code, contextId, status: state, statusTimestampAfter: timeAgo(since) };
      const more = { ...asked, historyLength, pageSize, pageToken };
      return agent.listTasks({ ...more, labels: labels.length > 0 ? [...labels] : undefined }, { signal });
    };
    if (!text) return list(after);
    const read = async (token: string | undefined): Promise<RowList<Task>> => {
      const { tasks, totalSize: total, nextPageToken: next } = await list(token);
      return { tasks, total, next };
    };
    const isFound = ({ id, status, history: [first] = [] }: Task) =>
      rowTests.text({ id, title: textOf(first), text: textOf(status.message) }, text);
    const { next, ...page } = await readPages(read, isFound, after, pageSize ?? 50);
    return { ...page, nextPageToken: next };
  });
};

/** A page of a store: of one caller, or of all. */
export const ofStore = (context: RunContext<ListFlags>, search: TaskSearch): Promise<Page> =>
  withStore(context, async (store) => {
    const { agent, state, contextId, since, pageSize: limit = 50, pageToken: after } = context.options;
    const callers = await callersIn(store, context, search.caller);
    const rowsOf = taskRows(store);
    const toRows = async (scope: Scope, page: Pick<TaskPage, 'tasks'>) =>
      (await rowsOf(scope, page)).map((row, index) => {
        const { head, fact } = page.tasks[index]!;
        const said = fact?.fact.type === 'status-changed' ? fact.fact.status.message : undefined;
        const status = {
          state: row.state,
          timestamp: head.statusAt,
          message: textOf(said) ? said : undefined,
        };
        const caller = callers.length > 1 ? callers.find((one) => one.scope === scope)?.label : undefined;
        return { ...row, status, caller, facts: head.version };
      });
    const { labels, skill, code } = search;
    const query = { labels, skill, code, state, contextId, statusSince: timeAgo(since) };
    const scopes = callers.map(({ scope }) => scope);
    const [found, waiting] = await Promise.all([
      listTasks(store, scopes, { ...query, search, limit, after }, toRows),
      store.waiting(agent),
    ]);
    const { total, searched, searchesTexts } = found;
    // What an index found stands beside what was found without it: both go on where the index does.
    const tasks = searchesTexts ? found.tasks : found.tasks.slice(0, limit);
    const last = tasks.length < found.tasks.length ? tasks.at(-1) : undefined;
    const end = last && printPlace({ statusAt: last.status.timestamp, taskId: last.id });
    const isNarrowed = [...Object.values(query), ...Object.values(search)].some((one) => one?.length);
    const isEmpty = total === 0 && !isNarrowed;
    const others = isEmpty && !(await isKnownQueue(store, agent)) ? await knownQueues(store) : undefined;
    if (isEmpty) context.output.note(reasonForNone(others, agent, callers));
    const more = { totalSize: total, searched, waiting, agents: others?.queues };
    return { tasks, nextPageToken: end ?? found.next, ...more };
  });

/** Whose tasks are listed: by the words and flags of the command. */
async function callersIn(store: TaskStore, context: RunContext<ListFlags>, named: string | undefined) {
  const { agent, tenant, allCallers, caller } = context.options;
  if (allCallers && caller) throw usage('--all-callers and --caller contradict each other');
  const own = callerScope(agent, { tenant, caller: named ?? callerOf({ caller }) });
  if (!allCallers && named === undefined) return [own];
  const known = [callerScope(agent), ...(await knownCallers(store, agent))];
  const some = known.filter(({ label }) => label === (named ?? label));
  if (some.length > mostCallers)
    context.output.note(`Of ${some.length} callers, these are the first ${mostCallers}`);
  return some.length > 0 ? some.slice(0, mostCallers) : [own];
}

const timeAgo = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(Date.now() - ms).toISOString();

/** Why a list is empty that no flag narrows: most often another agent or caller was meant. */
function reasonForNone(
  others: Awaited<ReturnType<typeof knownQueues>> | undefined,
  agent: string,
  callers: readonly { readonly caller?: string | undefined }[],
): string {
  if (others) {
    const { total, queues } = others;
    const named = queues.length < total ? `, of ${total} the first ${queues.length} here` : '';
    return `No agent called "${agent}" has worked on this store: --agent takes the \`name\` of ${total === 0 ? 'its server' : `one that has${named}`}`;
  }
  const whose = callers[0]?.caller
    ? 'of this name'
    : 'without authentication: those of others need --caller or --all-callers';
  return `The agent "${agent}" has no tasks${callers.length > 1 ? '' : ` of callers ${whose}`}`;
}
