import { headOf } from '@batonjs/lifecycle';
import type { Scope, StoredFact, StoredLog, TaskStore } from '@batonjs/store';

/** The log of a task, as JSON: what `replayTask` takes. It holds all that the log holds, what no client sees too. */
export interface TaskRecording {
  readonly taskId: string;
  readonly facts: readonly StoredFact[];
  /** The other tasks of its context, and those that its messages refer to. */
  readonly related?: readonly Omit<TaskRecording, 'related'>[];
}

const batch = 256;
/** How many tasks of the context a turn sees. */
const mostRelated = 100;

/** Reads the log of a task; undefined if there is none. `scope`: as the store names it. Changes nothing. */
export async function recordTask(
  store: TaskStore,
  scope: Scope,
  taskId: string,
): Promise<TaskRecording | undefined> {
  const facts = await factsOf(store, scope, taskId);
  const [first] = facts;
  if (first?.fact.type !== 'message-received') return undefined;
  const contextId = first.fact.message.contextId ?? '';
  const page = await store.list(scope, { contextId, answered: true, limit: mostRelated + 1, totalAtMost: 0 });
  const named = facts.flatMap(({ fact }) =>
    fact.type === 'message-received' ? (fact.message.referenceTaskIds ?? []) : [],
  );
  const ids = new Set([...page.tasks.map((task) => task.taskId), ...named]);
  ids.delete(taskId);
  const related = [];
  for (const id of [...ids].slice(0, mostRelated)) {
    const others = await factsOf(store, scope, id);
    if (others.length > 0) related.push({ taskId: id, facts: others });
  }
  return { taskId, facts, ...(related.length > 0 && { related }) };
}

async function factsOf(store: TaskStore, scope: Scope, taskId: string): Promise<StoredFact[]> {
  const facts: StoredFact[] = [];
  for (;;) {
    const more = await store.readFacts(scope, taskId, facts.length, batch);
    facts.push(...more);
    if (more.length < batch) return facts;
  }
}

/** The recorded tasks beside a turn, as a store that is only read has them at a time (ISO 8601, UTC). */
export function storeAt(
  recordings: TaskRecording['related'] = [],
  at: string,
): Pick<TaskStore, 'list' | 'load'> {
  const logs = recordings.flatMap(({ taskId, facts }) => {
    const log = logAt(facts, at);
    return log ? [{ taskId, log }] : [];
  });
  return {
    async list(_scope, { contextId, answered = false, limit }) {
      const tasks = logs
        .filter(({ log: { head } }) => head.contextId === contextId && (answered || head.state !== undefined))
        .map(({ taskId, log: { head } }) => ({ taskId, head }))
        .slice(0, limit);
      return { tasks, total: tasks.length };
    },
    load: async (_scope, taskId) => logs.find((each) => each.taskId === taskId)?.log,
  };
}

function logAt(all: readonly StoredFact[], at: string): StoredLog | undefined {
  const facts = all.filter(({ fact }) => fact.at <= at);
  const head = facts.reduce<ReturnType<typeof headOf> | undefined>(
    (head, { fact }) => headOf(head, fact),
    undefined,
  );
  return head && { head, version: facts.length, facts };
}
