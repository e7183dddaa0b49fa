import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { StateCounts, Stranded, TaskFilter, TaskList, TaskListUpdate } from '../../api/task.ts';
import { get, queryOf } from '../data/api.ts';
import { useFeeds } from '../data/session.ts';
import { type ListedRow, TaskLists } from './task-lists.ts';

/** The list of tasks as far as it was read. */
export interface TaskListState {
  readonly rows: readonly ListedRow[];
  readonly total: number | undefined;
  /** How many fit of each agent that says so. */
  readonly totals: ReadonlyMap<string, number>;
  readonly counts: StateCounts;
  /** The tasks that wait for versions which no process runs, by agent. */
  readonly stranded: ReadonlyMap<string, Stranded>;
  readonly source: TaskList['source'] | undefined;
  /** Whether a text was searched in the first messages of all tasks. */
  readonly searchesTexts: boolean;
  /** Why the list could not be read, or a part of it. */
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  /** Reads the next page, if there is one. */
  readonly more: () => void;
}

const pathOf = (agent: string): string => `/agents/${encodeURIComponent(agent)}`;

/** Reads the tasks of an agent, or of all, page by page, and keeps the beginning as it is now. */
export function useTaskList(agent: string | undefined, filter: TaskFilter): TaskListState {
  const openFeed = useFeeds();
  const lists = useRef(new TaskLists());
  const [, setDrawn] = useState({});
  const [refusal, setRefusal] = useState<string>();
  const isReading = useRef(false);
  const key = (agent === undefined ? '' : pathOf(agent)) + queryOf({ ...filter });

  useEffect(() => {
    const read = new TaskLists();
    lists.current = read;
    isReading.current = false;
    setRefusal(undefined);
    let drawing = 0;
    const close = openFeed<TaskListUpdate>({
      path: () => `${agent === undefined ? '' : pathOf(agent)}/feed${queryOf({ ...filter })}`,
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
  }, [key, openFeed]);

  const more = useCallback(() => {
    const read = lists.current;
    const { unfinished } = read;
    if (!unfinished || isReading.current) return;
    isReading.current = true;
    get<TaskList>(`${pathOf(unfinished.agent)}/tasks${queryOf({ ...filter, after: unfinished.after })}`)
      .then(
        (page) => read.append(unfinished.agent, page),
        (error: unknown) => setRefusal(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        if (read !== lists.current) return;
        isReading.current = false;
        setDrawn({});
      });
  }, [key]);

  const { rows, total, totals, counts, stranded, source, searchesTexts, isRead, problems } = lists.current;
  const problem =
    refusal ??
    ([...problems]
      .map(([id, message]) => (agent === undefined ? `${id}: ${message}` : message))
      .join(' · ') ||
      undefined);
  return { rows, total, totals, counts, stranded, source, searchesTexts, problem, isLoading: !isRead, more };
}
