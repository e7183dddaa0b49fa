import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { TaskFilter, TaskList, TaskListUpdate } from '../../api/task.ts';
import { agentPath, get, queryOf } from '../data/api.ts';
import { useFeeds } from '../data/session.ts';
import { TaskLists } from './task-lists.ts';

/** The list of tasks as far as it was read. */
export interface TaskListState
  extends Pick<TaskLists, 'rows' | 'total' | 'totals' | 'counts' | 'unserved' | 'source' | 'searchesTexts'> {
  /** Why the list could not be read, or a part of it. */
  readonly problem: string | undefined;
  readonly isLoading: boolean;
  /** Reads the next page, if there is one. */
  readonly more: () => void;
}

/** Reads the tasks of an agent, or of all, page by page, and keeps the beginning as it is now. */
export function useTaskList(agent: string | undefined, filter: TaskFilter): TaskListState {
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

  const { rows, total, totals, counts, unserved, source, searchesTexts, isRead, problems } = lists.current;
  const problem =
    refusal ??
    ([...problems]
      .map(([id, message]) => (agent === undefined ? `${id}: ${message}` : message))
      .join(' · ') ||
      undefined);
  return { rows, total, totals, counts, unserved, source, searchesTexts, problem, isLoading: !isRead, more };
}
