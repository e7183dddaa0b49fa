import { type Commit, type Committed, StoreError, type TaskStore } from '@batonjs/store';
import { type Sabotage, sabotage } from '../histories/faults.ts';
import type { Scenario } from './scenario.ts';

/** A protection that servers rely on, and a store without it. */
export interface Spoiled {
  readonly without: string;
  readonly spoil: (store: TaskStore) => TaskStore;
  /** Without notifications, the sweep that makes up for them is taken out, too. */
  readonly sweepEveryMs?: number;
  /** Makes scenarios of others in which the protection is needed often. */
  readonly where?: (scenario: Scenario) => Scenario;
}

const kit =
  (what: Sabotage) =>
  (store: TaskStore): TaskStore =>
    sabotage(store, what);

export const spoiledStores: readonly Spoiled[] = [
  { without: 'the check of the fence', spoil: kit('fence'), where: longTurnsPaused },
  { without: 'the check of the version', spoil: kit('cas') },
  { without: 'the commit ids that writers search', spoil: kit('commit-id') },
  { without: 'the guard of a release by its version', spoil: releaseAnyway, where: lateAnswers },
  { without: 'notifications and the sweep', spoil: silent, sweepEveryMs: Number.POSITIVE_INFINITY },
];

function longTurnsPaused(scenario: Scenario): Scenario {
  const tasks = scenario.tasks.map((task) => ({
    ...task,
    at: 0,
    work: { ...task.work, chunks: 24, paceMs: 20 },
    cancelAfterMs: undefined,
  }));
  const disturbances = scenario.disturbances.map((one) => ({ ...one, what: 'pause' as const, ms: 500 }));
  return { ...scenario, tasks, disturbances, restart: 'rerun' };
}

function lateAnswers(scenario: Scenario): Scenario {
  const tasks = scenario.tasks.map((task) => ({
    ...task,
    work: { ...task.work, chunks: 3, paceMs: 0, asks: 2 },
    via: 'stream' as const,
    asides: [2],
    late: true,
    cancelAfterMs: undefined,
  }));
  return { ...scenario, tasks, latencyMs: 10 };
}

/** Gives a task back although something came that the holder has not seen. */
function releaseAnyway(store: TaskStore): TaskStore {
  const commit = async (asked: Commit): Promise<Committed> => {
    try {
      return await store.commit(asked);
    } catch (error) {
      if (!asked.turn?.release || !StoreError.is(error, 'VERSION_CONFLICT')) throw error;
      const now = await store.load(asked.scope, asked.taskId);
      const by = (now?.version ?? 0) - Number(asked.expectedVersion);
      const head = asked.head && { ...asked.head, version: asked.head.version + by };
      if (head && head.statusVersion > Number(asked.expectedVersion))
        Object.assign(head, { statusVersion: head.statusVersion + by });
      return commit({ ...asked, expectedVersion: now?.version ?? 0, ...(head && { head }) });
    }
  };
  return { ...store, commit };
}

/** Rings nothing, and has something to claim only once, or for who asks for one task. */
function silent(store: TaskStore): TaskStore {
  let claimed = false;
  return {
    ...sabotage(store, 'notification'),
    ...store,
    subscribe: async () => () => {},
    async claim(request) {
      if (claimed && !request.task) return [];
      claimed = true;
      return store.claim(request);
    },
  };
}
