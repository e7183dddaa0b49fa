import { historyOf, type State, viewTask } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { loadTask, type Scope, type TaskStore } from '@batonjs/store';
import type { TurnContext } from '../../agent/agent.ts';
import { loadEach } from './references.ts';

const most = 100;

/** The context to read, and how many bytes of it are read at once. */
export interface ContextSource {
  readonly store: Pick<TaskStore, 'list' | 'load'>;
  readonly scope: Scope;
  readonly contextId: string;
  readonly taskId: string;
  readonly bytes: number;
  /** What the agent sees of tasks and messages. */
  readonly shown: <T>(value: T) => T;
}

/** The other tasks and messages of a context, read on request. */
export function contextOf({ store, scope, contextId, taskId, bytes, shown }: ContextSource): TurnContext {
  const others = async (answered: boolean): Promise<State[]> => {
    const limit = most + 1;
    const query = { contextId, limit, bytes, totalAtMost: 0 };
    const page = await store.list(scope, answered ? { ...query, answered } : query);
    const ids = page.tasks.map((task) => task.taskId).filter((id) => id !== taskId);
    const states: Known[] = [];
    let left = bytes;
    const load = async (id: string) => {
      const state = await loadTask(store, scope, id);
      return { id, state, weight: state?.weight ?? 0 };
    };
    for await (const { id, state, weight } of loadEach(ids.slice(0, most), load)) {
      left -= weight;
      if (left < 0) break;
      if (state) states.push({ id, state });
    }
    return states.sort(byAge).map(({ state }) => state);
  };
  return {
    id: contextId,
    tasks: async () => shown((await others(false)).flatMap((state) => (state.task ? [viewTask(state)] : []))),
    messages: async () => shown((await others(true)).flatMap(messagesOf)),
  };
}

interface Known {
  readonly id: string;
  readonly state: State;
}

/** By age and then by id: logs that began in the same millisecond are in the same order each time. */
function byAge(a: Known, b: Known): number {
  if (a.state.createdAt !== b.state.createdAt) return a.state.createdAt < b.state.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function messagesOf(state: State): Message[] {
  const all = historyOf(state, { currentStatusInHistory: true });
  return state.answer ? [...all, structuredClone(state.answer)] : all;
}
