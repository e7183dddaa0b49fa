import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { StateCounts, TaskFilter, TaskList, TaskListUpdate, TaskRow } from '../../api/task.ts';
import { get, queryOf } from '../data/api.ts';
import { useFeeds } from '../data/session.ts';

/** The list of an agent's tasks as far as it was read. */
export interface TaskListState {
  readonly rows: readonly TaskRow[];
  readonly total: number | undefined;
  readonly counts: StateCounts;
  readonly source: TaskList['source'] | undefined;
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  /** Reads the next page, if there is one. */
  readonly more: () => void;
}

/** The path of the query of a filter. */
const filterQuery = (filter: TaskFilter, after?: string): string => queryOf({ ...filter, after });

/** Reads the list page by page, and keeps its beginning as it is now. */
export function useTaskList(agent: string, filter: TaskFilter): TaskListState {
  const openFeed = useFeeds();
  const [list, setList] = useState<
    Pick<TaskListState, 'rows' | 'total' | 'source'> & { readonly isRead: boolean }
  >(empty);
  const [counts, setCounts] = useState<StateCounts>({});
  const [problem, setProblem] = useState<string>();
  const next = useRef<string | undefined>(undefined);
  const isReading = useRef(false);
  const base = `/agents/${encodeURIComponent(agent)}`;
  const key = base + filterQuery(filter);
  const current = useRef(key);
  current.current = key;

  useEffect(() => {
    setList(empty);
    next.current = undefined;
    let isFirst = true;
    return openFeed<TaskListUpdate>({
      path: () => `${base}/feed${filterQuery(filter)}`,
      onRefused: (error) => setProblem(error.message),
      onValue(update) {
        setProblem(update.type === 'problem' ? update.message : undefined);
        if (update.type === 'counts') setCounts(update.counts);
        if (update.type !== 'list') return;
        const { tasks, total, source } = update.list;
        if (isFirst) next.current = update.list.next;
        isFirst = false;
        setList((before) => ({ rows: merge(tasks, before.rows), total, source, isRead: true }));
      },
    });
  }, [key]);

  const more = useCallback(() => {
    const after = next.current;
    if (after === undefined || isReading.current) return;
    isReading.current = true;
    get<TaskList>(`${base}/tasks${filterQuery(filter, after)}`)
      .then(
        (page) => {
          if (current.current !== key) return;
          next.current = page.next;
          setList((before) => ({ ...before, rows: merge(before.rows, page.tasks) }));
        },
        (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        isReading.current = false;
      });
  }, [key]);

  const { isRead, ...shown } = list;
  return { ...shown, counts, problem, isLoading: !isRead, more };
}

const empty = { rows: [], total: undefined, source: undefined, isRead: false };

/** The first rows, and those of the others that are not among them. */
function merge(first: readonly TaskRow[], others: readonly TaskRow[]): readonly TaskRow[] {
  const known = new Set(first.map(({ id }) => id));
  return [...first, ...others.filter(({ id }) => !known.has(id))];
}
