import { forgetSchedule } from '@batonjs/server/schedules';
import type { AgentSchedules } from '../api/schedules.ts';
import { problemOf, RequestError } from '../http/reply.ts';
import { readSchedules } from '../schedules/read-schedules.ts';
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

  async 'POST /agents/:agent/forget-schedule'({ inspection, params, body, permit }) {
    await permit('forget-schedule', { agent: params.agent });
    const { store } = inspection.agent(params.agent);
    const { name } = await body();
    if (!store || typeof name !== 'string' || !(await forgetSchedule(store.tasks, store.queue, name)))
      throw new RequestError(404, `The store of this agent has no schedule ${String(name)}`);
    return {};
  },
};
