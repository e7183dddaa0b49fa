import { mostCallers } from '@batonjs/operator';
import { scheduleLabel } from '@batonjs/server/internals';
import { schedulesIn } from '@batonjs/server/schedules';
import type { AgentStore } from '../agents/inspected.ts';
import type { AgentSchedules, Schedule, ScheduledTask } from '../api/schedules.ts';
import { problemOf } from '../http/reply.ts';
import type { Route } from './route.ts';

/** The recurring tasks of all agents. */
export const scheduleRoutes: Readonly<Record<string, Route>> = {
  async 'GET /schedules'({ inspection }): Promise<{ agents: readonly AgentSchedules[] }> {
    const read = await Promise.all(
      inspection.agents.map(async ({ id, store }) => {
        if (!store) return [];
        try {
          return [{ agent: id, schedules: await readSchedules(store) }];
        } catch (error) {
          return [{ agent: id, schedules: [], problem: problemOf(error).message }];
        }
      }),
    );
    return { agents: read.flat() };
  },
};

/** How many of the tasks of a schedule are named. */
const mostTasks = 3;

/** The schedules that servers of an agent had, by name, with the latest tasks of each. */
async function readSchedules(store: AgentStore): Promise<readonly Schedule[]> {
  const found = await schedulesIn(store.tasks, store.queue);
  return Promise.all(
    found.map(async ({ name, cron, timezone, missed, nextAt, isOverdue, latest }) => {
      const label = scheduleLabel(name);
      return {
        name,
        cron,
        timezone,
        missed,
        nextAt,
        isOverdue,
        latestAt: latest?.dueAt,
        label,
        tasks: await latestTasks(store, label),
      };
    }),
  );
}

async function latestTasks({ tasks, scopes }: AgentStore, label: string): Promise<readonly ScheduledTask[]> {
  const pages = await Promise.all(
    scopes.slice(0, mostCallers).map(async ({ scope }, index) => {
      const page = await tasks.list(scope, { labels: [label], limit: mostTasks, totalAtMost: 1 });
      return page.tasks.map(({ taskId, head }) => ({
        id: taskId,
        state: head.state ?? 'TASK_STATE_UNSPECIFIED',
        at: head.statusAt,
        scope: index,
      }));
    }),
  );
  return pages
    .flat()
    .sort((one, other) => (one.at < other.at ? 1 : -1))
    .slice(0, mostTasks);
}
