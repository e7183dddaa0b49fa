import { historyOf, type State, viewTask } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { loadTask, type Scope, type TaskStore } from '@batonjs/store';
import type { TurnContext } from './agent.ts';

const most = 100;

/** What else happened in a context, read when it is asked for. */
export function contextOf(store: TaskStore, scope: Scope, contextId: string, taskId: string): TurnContext {
  const others = async (answered: boolean): Promise<State[]> => {
    const page = await store.list(scope, { contextId, limit: most + 1, ...(answered && { answered }) });
    const ids = page.tasks.map((task) => task.taskId).filter((id) => id !== taskId);
    // Sorted by age and then by id: what began in the same millisecond is in the same order each time.
    const states = await Promise.all(
      ids
        .slice(0, most)
        .sort()
        .map((id) => loadTask(store, scope, id)),
    );
    return states.filter((state) => state !== undefined).sort(byAge);
  };
  return {
    id: contextId,
    tasks: async () => (await others(false)).flatMap((state) => (state.task ? [viewTask(state)] : [])),
    messages: async () => (await others(true)).flatMap(said),
  };
}

const byAge = (a: State, b: State): number =>
  a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? -1 : 1;

function said(state: State): Message[] {
  const all = historyOf(state, { currentStatusInHistory: true });
  return state.answer ? [...all, structuredClone(state.answer)] : all;
}
