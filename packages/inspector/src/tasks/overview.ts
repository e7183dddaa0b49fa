import { mostCallers, versionsOf } from '@batonjs/operator';
import { peersOf, runsSince, together } from '@batonjs/server/internals';
import type { Scope, TaskQuery } from '@batonjs/store';
import { type AgentStore, answered } from '../agents/inspected.ts';
import { mostCounted, type OpenCounts, type Overview } from '../api/agent.ts';
import type { ListedState } from '../api/task.ts';
import type { Exhibit } from '../inspection.ts';

/** How long a refresh may count, in milliseconds, and how many agents it counts in any case. */
const refresh = { ms: 4, least: 4 };

/** What was counted last, and when. A store that did not answer has no counts; its list says why. */
const counted = new WeakMap<AgentStore, { readonly at: number; readonly counts: OpenCounts | undefined }>();

/** The open tasks of all agents. Of many, a refresh counts those that were counted longest ago: the others keep their numbers. */
export async function overviewOf(agents: readonly Exhibit[]): Promise<Overview> {
  const stores = agents.flatMap(({ id, store }) => (store ? [{ id, store }] : []));
  const count = async ({ store }: { readonly store: AgentStore }) => {
    const counts = await answered(countsOf(store)).catch(() => undefined);
    counted.set(store, { at: performance.now(), counts });
  };
  const known = stores.filter(({ store }) => counted.has(store));
  await Promise.all(stores.filter(({ store }) => !counted.has(store)).map(count));
  known.sort((one, other) => counted.get(one.store)!.at - counted.get(other.store)!.at);
  const until = performance.now() + refresh.ms;
  await Promise.all(known.slice(0, refresh.least).map(count));
  for (const one of known.slice(refresh.least)) if (performance.now() < until) await count(one);
  return Object.fromEntries(
    stores.flatMap(({ id, store }) => {
      const counts = counted.get(store)?.counts;
      return counts ? [[id, counts]] : [];
    }),
  );
}

type HourRuns = ReturnType<typeof together>;
const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** How the tasks and processes of an agent are. */
export async function countsOf(store: AgentStore): Promise<OpenCounts> {
  const { tasks, scopes, queue } = store;
  await store.refresh();
  const [{ questions = {}, waiting = 0, postponed = 0 } = {}, peers, versions, hours] = await Promise.all([
    tasks.measure?.(queue),
    peersOf(tasks, queue),
    versionsOf(tasks, queue),
    runsSince(tasks, queue, Date.now() - dayMs),
  ]);
  const asked = Object.values(questions).reduce((sum, number) => sum + number, 0);
  const shown = scopes.slice(0, mostCallers).map(({ scope }) => scope);
  let [working, asking] = [0, 0];
  for (const scope of shown) working += await count(tasks, scope, ['TASK_STATE_WORKING']);
  for (const scope of asked > 0 || !tasks.measure ? shown : [])
    asking += await count(tasks, scope, askingStates);
  const [first, ...others] = hours.values();
  const runs = first && others.reduce(together, first);
  return {
    asking: Math.min(asking, mostCounted + 1),
    working: Math.min(working, mostCounted + 1),
    waiting: Math.min(waiting + postponed, mostCounted + 1),
    ended: runs?.ended ?? 0,
    failed: runs?.failed ?? 0,
    ...(runs && { p95Ms: quantile(runs.took, 0.95), costs: runs.costs, tokens: runs.tokens }),
    perHour: Array.from(
      { length: 24 },
      (_, ago) =>
        hours.get(new Date(Date.now() - (23 - ago) * hourMs).toISOString().slice(0, 13))?.ended ?? 0,
    ),
    processes: peers.flatMap(({ name, isClosed }) => (isClosed ? [] : [name])),
    versions,
    ...(asked > asking && { hidden: asked - asking }),
  };
}

/** The longest time, in milliseconds, that this part of the tasks took. */
function quantile(took: HourRuns['took'], part: number): number {
  const steps = Object.entries(took).sort(([one], [other]) => Number(one) - Number(other));
  const slower = (index: number) => steps.slice(index + 1).reduce((sum, [, count]) => sum + count, 0);
  const [step] = steps.find((_, index) => slower(index) <= (1 - part) * slower(-1)) ?? [];
  return 2 ** (Number(step) / 2);
}

async function count(
  tasks: AgentStore['tasks'],
  scope: Scope,
  wanted: readonly ListedState[],
  more: Partial<TaskQuery> = {},
): Promise<number> {
  let sum = 0;
  for (const state of wanted)
    sum += (await tasks.list(scope, { ...more, state, limit: 1, totalAtMost: mostCounted + 1 })).total;
  return Math.min(sum, mostCounted + 1);
}

const askingStates = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'] as const;
