import { readSearch } from '@batonjs/operator/search';
import { useRef, useState } from 'preact/hooks';
import type { AgentSummary } from '../../api/agent.ts';
import type { ListQuery, TaskList, TaskRow } from '../../api/task.ts';
import { agentPath, get, post, queryOf } from '../data/api.ts';
import { useSession } from '../data/session.ts';
import { isTerminalState } from '../parts/words.ts';
import type { ListedRow } from './task-lists.ts';

/** The things that can be done to many tasks. */
export type ManyAction = 'cancel' | 'fork' | 'redeliver';

/** What each is called, and which tasks it can be done to. */
export const manyActions: Readonly<
  Record<ManyAction, { readonly name: string; readonly fits: (task: TaskRow) => boolean }>
> = {
  cancel: { name: 'Cancel', fits: ({ state }) => !isTerminalState(state) },
  fork: { name: 'Run again', fits: ({ state }) => isTerminalState(state) },
  redeliver: { name: 'Retry webhooks', fits: () => true },
};

/** What the viewer may do to many tasks. */
export const useOffered = (): readonly ManyAction[] =>
  useSession().may.filter((action) => action in manyActions) as ManyAction[];

/** The most tasks that are acted on. */
const most = 10_000;
/** How many requests are open at once. */
const atOnce = 4;

/** Lets rows of a list be ticked. Those that are listed no more count for nothing. */
export function useTicks(rows: readonly ListedRow[]) {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const keyOf = ({ agent, id }: ListedRow) => `${agent} ${id}`;
  const has = (row: ListedRow) => keys.has(keyOf(row));
  const toggle = (index: number, isRange: boolean) => {
    const other = isRange ? rows.findIndex((row) => keyOf(row) === last.current) : -1;
    const ends = [index, other < 0 ? index : other].sort((one, two) => one - two);
    const range = rows.slice(ends[0], ends[1]! + 1).map(keyOf);
    last.current = keyOf(rows[index]!);
    const next = new Set(keys);
    for (const key of range) keys.has(last.current) ? next.delete(key) : next.add(key);
    setKeys(next);
  };
  return { has, toggle, rows: rows.filter(has), clear: () => setKeys(new Set()) };
}

/** How far it is. */
export interface ManyProgress {
  readonly all: number;
  readonly done: number;
  readonly failed: readonly Record<'id' | 'message', string>[];
  readonly isRunning: boolean;
}

const idle: ManyProgress = { all: 0, done: 0, failed: [], isRunning: false };
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Reads all tasks of a filter, unless some are ticked, and does the same to each: one that fails keeps no other from it. */
export function useMany(
  agent: string | undefined,
  filter: ListQuery,
  agents: readonly AgentSummary[],
  ticked: readonly ListedRow[],
) {
  const { caller } = readSearch(filter.q ?? '');
  const listed = agents.filter(({ id, scopes }) =>
    agent === undefined ? !caller || scopes.includes(caller) : id === agent,
  );
  const [tasks, setTasks] = useState<readonly ListedRow[]>();
  const [isReading, setReading] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [progress, setProgress] = useState(idle);
  const running = useRef<AbortController>(undefined);

  const read = async () => {
    setReading(true);
    setProblem(undefined);
    setProgress(idle);
    try {
      setTasks(
        ticked.length > 0 ? ticked : (await Promise.all(listed.map(({ id }) => readAll(id, filter)))).flat(),
      );
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setReading(false);
    }
  };

  const run = async (action: ManyAction, chosen: readonly ListedRow[]) => {
    const controller = new AbortController();
    running.current = controller;
    let done = 0;
    const failed: Record<'id' | 'message', string>[] = [];
    const show = (isRunning: boolean) =>
      setProgress({ all: chosen.length, done, failed: [...failed], isRunning });
    show(true);
    const open = [...chosen];
    const work = async () => {
      for (let task = open.shift(); task && !controller.signal.aborted; task = open.shift()) {
        try {
          await post(agentPath(task.agent, 'tasks', task.id, action), { scope: task.scope ?? 0 });
          done += 1;
        } catch (error) {
          failed.push({ id: task.id, message: messageOf(error) });
        }
        show(true);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    show(false);
  };

  return {
    tasks,
    isReading,
    problem,
    ...progress,
    read,
    run,
    /** Those that were begun are finished. */
    abort: () => running.current?.abort(),
  };
}

async function readAll(agent: string, filter: ListQuery): Promise<readonly ListedRow[]> {
  const rows: ListedRow[] = [];
  let after: string | undefined;
  do {
    const page: TaskList = await get(agentPath(agent, 'tasks') + queryOf({ ...filter, after }));
    rows.push(...page.tasks.map((task) => ({ ...task, agent })));
    after = page.next;
  } while (after !== undefined && rows.length < most);
  return rows;
}
