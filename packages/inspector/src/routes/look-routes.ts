import { reportCard } from '../agents/card-report.ts';
import { summaryOf } from '../agents/inspected.ts';
import { type Action, actions, type SessionInfo } from '../api/agent.ts';
import type { TaskFilter } from '../api/task.ts';
import { problemOf, RequestError, readNumber, streamLines } from '../http/reply.ts';
import { type Exhibit, isAllowed } from '../inspection.ts';
import { withCalls } from '../models/read-call.ts';
import { filterFor, readFilter } from '../tasks/filters.ts';
import { overviewOf } from '../tasks/overview.ts';
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

  async 'GET /activity'({ activity, query }) {
    return activity.search(query.get('q') ?? '');
  },

  async 'GET /overview'({ inspection }) {
    return overviewOf(inspection.agents);
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

  async 'GET /feed'({ inspection, query, response, hide }) {
    const filter = readFilter(query);
    const wanted = query.getAll('agent').filter((id) => id !== '');
    const agents = wanted.length > 0 ? wanted.map((id) => inspection.agent(id)) : inspection.agents;
    const lists = agents.flatMap((agent) => {
      const own = filterFor(agent, filter);
      return own ? [{ agent, filter: own }] : [];
    });
    if (lists.length === 0 && filter.caller) throw unknownCaller(filter.caller);
    await streamLines(response, (signal) => taskFeeds(lists, signal), hide);
    return ANSWERED;
  },

  async 'GET /agents/:agent/tasks/:task/timeline'({ inspection, params, query, response, hide, ...has }) {
    const agent = inspection.agent(params.agent);
    const target = { agent: agent.id, taskId: params.task };
    const showsMessages = await isAllowed(has.viewer, 'read-prompts', target);
    const known = { after: readNumber(query, 'after') ?? 0, source: query.get('source') };
    const feed = await timelineOf(agent, params.task, known, readNumber(query, 'scope') ?? 0);
    const shown = (signal: AbortSignal) => withCalls(feed(signal), { prices: has.prices, showsMessages });
    await streamLines(response, shown, hide);
    return ANSWERED;
  },

  async 'GET /requests'({ clientRequests, hide, viewer, response }) {
    if (!clientRequests) throw new RequestError(404, 'This inspector does not keep the requests of clients');
    if (!(await isAllowed(viewer, 'read-requests', {})))
      throw new RequestError(403, 'This inspector does not allow you to read the requests of clients');
    await streamLines(response, (signal) => exchangeFeed(clientRequests.log, signal), hide);
    return ANSWERED;
  },

  async 'GET /agents/:agent/wire'(ask) {
    const { link } = ask.inspection.agent(ask.params.agent);
    if (!link)
      throw new RequestError(404, 'The inspector sends no requests to this agent: it has the store only');
    await streamLines(ask.response, (signal) => exchangeFeed(link.wire, signal), ask.hide);
    return ANSWERED;
  },
};

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
