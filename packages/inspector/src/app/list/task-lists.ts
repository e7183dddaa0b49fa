import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ListQuery, StateCounts, TaskList, TaskListUpdate, TaskRow, Unserved } from '../../api/task.ts';
import { agentPath, get, queryOf } from '../data/api.ts';
import { useFeeds } from '../data/session.ts';

/** A task in a list, with the id of its agent. */
export interface ListedRow extends TaskRow {
  readonly agent: string;
  /** When it came, or another state of it was seen than before: milliseconds of the page. Absent if neither was seen. */
  readonly changedAt?: number;
}

/** The tasks of one agent as far as they were read. */
interface AgentList {
  readonly agent: string;
  rows: ListedRow[];
  readonly known: Set<string>;
  next: string | undefined;
  total: number | undefined;
  source: TaskList['source'];
  searched: TaskList['searched'];
  /** How many tasks the further pages looked through. */
  older: number;
}

/** The lists of one agent or of several, newest first. They grow in place. */
class TaskLists {
  readonly #lists = new Map<string, AgentList>();
  readonly #counts = new Map<string, StateCounts>();
  /** The tasks that wait for versions which no process runs, by agent. */
  readonly unserved = new Map<string, Unserved>();
  /** Why lists could not be read, by agent. */
  readonly problems = new Map<string, string>();
  #rows: readonly ListedRow[] | undefined;

  /** All rows that are known to be in order: those that may follow the end of a list are left out until it is read. */
  get rows(): readonly ListedRow[] {
    this.#rows ??= this.#merge();
    return this.#rows;
  }

  get isRead(): boolean {
    return this.#lists.size > 0;
  }

  /** How many tasks match; undefined if an agent does not say. */
  get total(): number | undefined {
    let sum = 0;
    for (const { total } of this.#lists.values()) {
      if (total === undefined) return undefined;
      sum += total;
    }
    return sum;
  }

  /** How many match, of each agent that says so. */
  get totals(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#lists.values()].flatMap(({ agent, total }) =>
        total === undefined ? [] : [[agent, total] as const],
      ),
    );
  }

  get counts(): StateCounts {
    const sums: StateCounts = {};
    for (const counts of this.#counts.values())
      for (const [state, count] of Object.entries(counts) as [keyof StateCounts, number][])
        sums[state] = (sums[state] ?? 0) + count;
    return sums;
  }

  /** Where the list comes from, if there is one. */
  get source(): TaskList['source'] | undefined {
    const [first, ...others] = this.#lists.values();
    return others.length === 0 ? first?.source : undefined;
  }

  /** How many tasks were looked through one by one, of how many, and how many did not fit; undefined where an index was asked. */
  get searched(): (Record<'tasks' | 'of' | 'unfit', number> & { readonly isAll: boolean }) | undefined {
    const lists = [...this.#lists.values()].filter(({ searched }) => searched);
    if (lists.length === 0) return undefined;
    const tasks = lists.reduce((sum, { searched, older }) => sum + (searched?.tasks ?? 0) + older, 0);
    const of = lists.reduce((sum, { searched }) => sum + (searched?.of ?? 0), 0);
    const unfit = lists.reduce((rest, { rows }) => rest - rows.length, tasks);
    return { tasks, of: Math.max(of, tasks), unfit, isAll: lists.every(({ next }) => next === undefined) };
  }

  /** Takes a line of a feed. */
  receive(update: TaskListUpdate): void {
    const { agent } = update;
    if (update.type === 'problem') {
      this.problems.set(agent, update.message);
      return;
    }
    this.problems.delete(agent);
    if (update.type === 'unserved') this.unserved.set(agent, update.unserved);
    else if (update.type === 'counts') this.#counts.set(agent, update.counts);
    else this.#begin(agent, update.list);
  }

  /** The list to read on: that whose end is the newest. */
  get unfinished(): { readonly agent: string; readonly after: string } | undefined {
    let newest: AgentList | undefined;
    for (const list of this.#lists.values())
      if (list.next !== undefined && (!newest || endOf(list) > endOf(newest))) newest = list;
    return newest?.next === undefined ? undefined : { agent: newest.agent, after: newest.next };
  }

  /** Adds the page that follows the ones before. */
  append(agent: string, { tasks, next, searched }: TaskList): void {
    const list = this.#lists.get(agent);
    if (!list) return;
    list.next = next;
    list.older += searched?.tasks ?? 0;
    for (const task of tasks) {
      if (list.known.has(task.id)) continue;
      list.known.add(task.id);
      list.rows.push({ ...task, agent });
    }
    this.#rows = undefined;
  }

  /** Takes the first page, which was read again. Rows that it has no more stay where further pages were read. */
  #begin(agent: string, { tasks, next, total, source, searched }: TaskList): void {
    const before = this.#lists.get(agent);
    const ids = new Set(tasks.map(({ id }) => id));
    const isWhole = next === undefined;
    const known = Map.groupBy(before?.rows ?? [], ({ id }) => ids.has(id));
    const others = isWhole ? [] : (known.get(false) ?? []);
    const first = withChanges(tasks, before && (known.get(true) ?? []), agent);
    for (const { id } of others) ids.add(id);
    this.#lists.set(agent, {
      agent,
      rows: [...first, ...others],
      known: ids,
      next: before && !isWhole ? before.next : next,
      total,
      source,
      searched,
      older: isWhole ? 0 : (before?.older ?? 0),
    });
    this.#rows = undefined;
  }

  #merge(): readonly ListedRow[] {
    const lists = [...this.#lists.values()];
    if (lists.length < 2) return lists[0]?.rows ?? [];
    const open = lists.filter(({ next }) => next !== undefined).map(endOf);
    const end = open.toSorted().at(-1) ?? '';
    const rows = lists.flatMap((list) => list.rows).filter(({ statusAt = '' }) => statusAt >= end);
    return rows.sort(({ statusAt: one = '' }, { statusAt: other = '' }) =>
      one < other ? 1 : one > other ? -1 : 0,
    );
  }
}

/** Rows with when they came or their state changed, as far as that was seen. */
function withChanges(tasks: readonly TaskRow[], before: readonly ListedRow[] | undefined, agent: string) {
  const known = new Map(before?.map((row) => [row.id, row]));
  return tasks.map((task): ListedRow => {
    const row = known.get(task.id);
    const changedAt = before && row?.state !== task.state ? performance.now() : row?.changedAt;
    return { ...task, agent, ...(changedAt !== undefined && { changedAt }) };
  });
}

const endOf = ({ rows }: AgentList): string => rows.at(-1)?.statusAt ?? '';

/** The list of tasks as far as it was read. */
export interface TaskListState
  extends Pick<TaskLists, 'rows' | 'total' | 'totals' | 'counts' | 'unserved' | 'source' | 'searched'> {
  /** Why the list could not be read, or a part of it. */
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  /** Reads the next page, if there is one. */
  readonly more: () => void;
}

/** Reads the tasks of an agent, or of all, page by page, and keeps the beginning as it is now. */
export function useTaskList(agent: string | undefined, filter: ListQuery): TaskListState {
  const openFeed = useFeeds();
  const lists = useRef(new TaskLists());
  const [, setDrawn] = useState({});
  const [refusal, setRefusal] = useState<string>();
  const isReading = useRef(false);
  const path = `/feed${queryOf({ agent, ...filter })}`;

  useEffect(() => {
    const read = new TaskLists();
    lists.current = read;
    isReading.current = false;
    setRefusal(undefined);
    let drawing = 0;
    const close = openFeed<TaskListUpdate>({
      path: () => path,
      onRefused: ({ message }) => setRefusal(message),
      onValue(update) {
        read.receive(update);
        drawing ||= requestAnimationFrame(() => {
          drawing = 0;
          setDrawn({});
        });
      },
    });
    return () => {
      close();
      cancelAnimationFrame(drawing);
    };
  }, [path, openFeed]);

  const more = useCallback(() => {
    const read = lists.current;
    const { unfinished } = read;
    if (!unfinished || isReading.current) return;
    isReading.current = true;
    get<TaskList>(agentPath(unfinished.agent, 'tasks') + queryOf({ ...filter, after: unfinished.after }))
      .then(
        (page) => read.append(unfinished.agent, page),
        (error: unknown) => setRefusal(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        if (read !== lists.current) return;
        isReading.current = false;
        setDrawn({});
      });
  }, [path]);

  const { rows, total, totals, counts, unserved, source, searched, isRead, problems } = lists.current;
  const problem =
    refusal ??
    ([...problems]
      .map(([id, message]) => (agent === undefined ? `${id}: ${message}` : message))
      .join(' · ') ||
      undefined);
  return { rows, total, totals, counts, unserved, source, searched, problem, isLoading: !isRead, more };
}
