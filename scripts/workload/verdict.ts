import { setTimeout as sleep } from 'node:timers/promises';
import { isInterrupted, replay } from '@batonjs/lifecycle';
import { StoreError, type TaskStore } from '@batonjs/store';
import {
  checkHistory,
  type KeptLog,
  type Observation,
  readLog,
  type Violation,
  type ViolationKind,
} from '../../test/histories/history.ts';
import { totalChunks, wrongMemory } from './agent.ts';
import type { Work } from './plan.ts';

/** How often a store is asked again that does not answer: on a busy machine it may take longer than its adapter waits. */
const mostReads = 100;

async function answered<T>(read: () => Promise<T>): Promise<T> {
  for (let reads = 1; ; reads++) {
    try {
      return await read();
    } catch (error) {
      if (!StoreError.is(error, 'UNAVAILABLE') || reads >= mostReads) throw error;
      await sleep(50);
    }
  }
}

/** How many logs are read at once: in a store with a network one after the other would take seconds for a few hundred. */
const readsAtOnce = 20;

/** Every log of the scopes. */
export async function readLogs(store: TaskStore, scopes: readonly string[]): Promise<KeptLog[]> {
  const logs: KeptLog[] = [];
  for (const scope of scopes) {
    let after: { statusAt: string; taskId: string } | undefined;
    for (;;) {
      const query = { limit: 100, ...(after && { after }) };
      const { tasks } = await answered(() => store.list(scope, query));
      for (let n = 0; n < tasks.length; n += readsAtOnce) {
        const some = tasks.slice(n, n + readsAtOnce);
        const read = some.map(({ taskId }) => answered(() => readLog(store, scope, taskId)));
        for (const log of await Promise.all(read)) if (log) logs.push(log);
      }
      const last = tasks.at(-1);
      if (!last) break;
      after = { statusAt: last.head.statusAt, taskId: last.taskId };
    }
  }
  return logs;
}

/** Logs that neither ended nor wait for their client: who waits has heard everything that was said. */
export const unsettled = (logs: readonly KeptLog[]): KeptLog[] =>
  logs.filter(({ head, facts }) => {
    if (head.closed) return false;
    if (!head.state || !isInterrupted(head.state)) return true;
    const state = replay(facts.map(({ fact }) => fact));
    return state === undefined || state.pending.length > 0 || state.cancelRequested !== undefined;
  });

/** How the logs and what clients saw break the invariants. */
export function judge(
  logs: readonly KeptLog[],
  observations: readonly Observation[],
  options: { readonly settled: boolean },
): Violation[] {
  return [
    ...checkHistory({ logs, observations, ...options }),
    ...logs.flatMap(checkCount),
    ...logs.flatMap(checkFailures),
  ];
}

/** What the agent kept is what it finds; what it threw once, and what it has done in a step, it does not do again. */
function checkFailures({ taskId, facts }: KeptLog): Violation[] {
  const found: Violation[] = [];
  const thrown = new Set<string>();
  for (const { fact, version } of facts) {
    const text = fact.type === 'status-changed' && fact.status.message?.parts[0];
    if (text && 'text' in text && text.text.startsWith(wrongMemory))
      found.push({ kind: 'lost', taskId, message: `${text.text} at ${version}` });
    if (fact.type !== 'turn-failed') continue;
    if (thrown.has(fact.message))
      found.push({ kind: 'duplicated', taskId, message: `${fact.message} again at ${version}` });
    thrown.add(fact.message);
  }
  return found;
}

/** Over all turns and attempts, the chunks of a task count up from 0; a completed task has all of them. */
function checkCount({ taskId, facts, head }: KeptLog): Violation[] {
  const found: Violation[] = [];
  const say = (kind: ViolationKind, message: string) => found.push({ kind, taskId, message });
  let next = 0;
  for (const { fact, version } of facts) {
    if (fact.type !== 'artifact-updated') continue;
    const [part] = fact.artifact.parts;
    const { chunk } = (part && 'data' in part ? part.data : {}) as { chunk: number };
    if (chunk === next) next++;
    else say(chunk < next ? 'duplicated' : 'lost', `chunk ${chunk} stands at ${version} instead of ${next}`);
  }
  const first = facts[0]?.fact;
  const asked = first?.type === 'message-received' ? first.message.parts[0] : undefined;
  if (head.state !== 'TASK_STATE_COMPLETED' || !asked || !('data' in asked)) return found;
  const total = totalChunks(asked.data as unknown as Work);
  if (next !== total) say('lost', `it completed with ${next} of ${total} chunks`);
  return found;
}

/** How many violations of each kind. */
export function countByKind(violations: readonly Violation[]): Record<ViolationKind, number> {
  const counts = {
    lost: 0,
    duplicated: 0,
    reordered: 0,
    stuck: 0,
    doubleTerminal: 0,
    doubleTurns: 0,
    corrupt: 0,
  };
  for (const { kind } of violations) counts[kind]++;
  return counts;
}
