import { versionsOf } from '@batonjs/operator';
import { peersOf, runsSince, together } from '@batonjs/server/internals';
import type { Scope, TaskQuery } from '@batonjs/store';
import { reportCard } from '../agents/card-report.ts';
import { type AgentStore, summaryOf } from '../agents/inspected.ts';
import {
  type Action,
  actions,
  mostCounted,
  type OpenCounts,
  type Overview,
  type SessionInfo,
} from '../api/agent.ts';
import type { ListedState, TaskFilter } from '../api/task.ts';
import { problemOf, RequestError, readNumber, streamLines } from '../http/reply.ts';
import { type Exhibit, isAllowed } from '../inspection.ts';
import { withCalls } from '../models/read-call.ts';
import { filterFor, readFilter } from '../tasks/filters.ts';
import { mostCallers } from '../tasks/store-tasks.ts';
import { taskFeeds } from '../tasks/task-feed.ts';
import { mustHaveTask, storeTimeline } from '../timeline/store-timeline.ts';
import { ANSWERED, type Route } from './route.ts';
import { exchangeFeed } from './wire-feeds.ts';

/** What can be looked at. */
export const lookRoutes: Readonly<Record<string, Route>> = {
  async 'GET /session'({ viewer, inspection, process, traceUrl, prices, ...has }): Promise<SessionInfo> {
    await Promise.all([inspection.introduce(), ...inspection.agents.map(({ store }) => store?.refresh())]);
    const asked = (Object.keys(actions) as Action[]).filter(
      (action) => (action !== 'kill' || has.kill) && (action !== 'read-requests' || has.clientRequests),
    );
    const may = await Promise.all(asked.map((action) => isAllowed(viewer, action, {})));
    return {
      viewer: viewer.name,
      may: asked.filter((_, index) => may[index]),
      agents: inspection.agents.map(summaryOf),
      process,
      traceUrl,
      currency: prices?.currency,
    };
  },

  async 'GET /activity'({ activity }) {
    return { records: activity.records };
  },

  async 'GET /overview'({ inspection }): Promise<Overview> {
    const counts = await Promise.all(
      inspection.agents.map(async ({ id, store }) => {
        // A store that does not answer has no counts; its list says why.
        const found = store && (await countsOf(store).catch(() => undefined));
        return found ? [[id, found] as const] : [];
      }),
    );
    return Object.fromEntries(counts.flat());
  },

  async 'GET /agents/:agent/card'({ inspection, params }) {
    const agent = inspection.agent(params.agent);
    if (!agent.link)
      throw new RequestError(404, 'The inspector has the store of this agent only, not its card');
    try {
      const report = await reportCard(agent.link, agent.options.trust);
      agent.problem = undefined;
      agent.description = report.card.description;
      agent.name = report.card.name;
      return report;
    } catch (error) {
      agent.problem = problemOf(error).message;
      throw error;
    }
  },

  async 'GET /agents/:agent/tasks'({ inspection, params, query }) {
    const agent = inspection.agent(params.agent);
    return agent.tasks.list(filterIn(agent, query), query.get('after') ?? undefined);
  },

  async 'GET /feed'({ inspection, query, response }) {
    const filter = readFilter(query);
    const wanted = query.getAll('agent').filter((id) => id !== '');
    const agents = wanted.length > 0 ? wanted.map((id) => inspection.agent(id)) : inspection.agents;
    const lists = agents.flatMap((agent) => {
      const own = filterFor(agent, filter);
      return own ? [{ agent, filter: own }] : [];
    });
    if (lists.length === 0 && filter.caller) throw unknownCaller(filter.caller);
    await streamLines(response, (signal) => taskFeeds(lists, signal), inspection.hide);
    return ANSWERED;
  },

  async 'GET /agents/:agent/tasks/:task/timeline'({ inspection, params, query, response, viewer, prices }) {
    const agent = inspection.agent(params.agent);
    const target = { agent: agent.id, taskId: params.task };
    const showsMessages = await isAllowed(viewer, 'read-prompts', target);
    const known = { after: readNumber(query, 'after') ?? 0, source: query.get('source') };
    const feed = await timelineOf(agent, params.task, known, readNumber(query, 'scope') ?? 0);
    const shown = (signal: AbortSignal) => withCalls(feed(signal), { prices, showsMessages });
    await streamLines(response, shown, inspection.hide);
    return ANSWERED;
  },

  async 'GET /requests'({ clientRequests, inspection, viewer, response }) {
    if (!clientRequests) throw new RequestError(404, 'This inspector does not keep the requests of clients');
    if (!(await isAllowed(viewer, 'read-requests', {})))
      throw new RequestError(403, 'This inspector does not allow you to read the requests of clients');
    await streamLines(response, (signal) => exchangeFeed(clientRequests.log, signal), inspection.hide);
    return ANSWERED;
  },

  async 'GET /agents/:agent/wire'(ask) {
    const { link } = ask.inspection.agent(ask.params.agent);
    if (!link)
      throw new RequestError(404, 'The inspector sends no requests to this agent: it has the store only');
    await streamLines(ask.response, (signal) => exchangeFeed(link.wire, signal), ask.inspection.hide);
    return ANSWERED;
  },
};

/** The filter of a list of one agent. */
function filterIn(agent: Exhibit, query: URLSearchParams): TaskFilter {
  const filter = readFilter(query);
  const own = filterFor(agent, filter);
  if (!own) throw unknownCaller(filter.caller);
  return own;
}

const unknownCaller = (caller: string | undefined) =>
  new RequestError(404, `The inspector has no store with tasks of ${caller}`);

/** The timeline of a task: of its log, or of what the inspector recorded. */
async function timelineOf(
  agent: Exhibit,
  taskId: string,
  known: { readonly after: number; readonly source: string | null },
  scope: number,
) {
  await agent.store?.refresh();
  const place = agent.store?.scopes[scope];
  if (agent.store && place) {
    const { store } = agent;
    await mustHaveTask(store, place.scope, taskId);
    return (signal: AbortSignal) => storeTimeline(store, place.scope, taskId, known, signal);
  }
  const recording = agent.recordings?.open(taskId);
  if (!recording) throw new RequestError(404, `There is no scope ${scope}`);
  return (signal: AbortSignal) => recording.feed(known, signal);
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
