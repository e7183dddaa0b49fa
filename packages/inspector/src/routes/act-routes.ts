import { namesThisMachine } from '@batonjs/bindings';
import { agentsOf } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import { eraseTasks, forkTask } from '@batonjs/operator';
import type { Message, Part, Struct } from '@batonjs/protocol';
import { fetchFile as fetchSafely } from '@batonjs/server/address-policy';
import { wakeKeyOf } from '@batonjs/server/internals';
import type { PushConfigStore, Scope } from '@batonjs/store';
import { type AgentLink, summaryOf } from '../agents/inspected.ts';
import type { Action, ErasedAt, ListedAgent } from '../api/agent.ts';
import { type AnswerLink, INSPECTOR, type SendCommand, type Sent } from '../api/command.ts';
import { RequestError } from '../http/reply.ts';
import { type Exhibit, isAllowed } from '../inspection.ts';
import { Recording } from '../timeline/recording.ts';
import type { Recordings } from '../timeline/recordings.ts';
import type { Ask, Route } from './route.ts';

/** For how long a link may take an answer, in milliseconds. */
const longestLinkMs = 366 * 86_400_000;

/** How long each task at work is waited for before it is erased, in milliseconds. */
const endMs = 3_000;

/** How long the catalog of a host is waited for, in milliseconds. */
const catalogMs = 10_000;

/** The most webhooks of one task that are tried again. */
const mostWebhooks = 100;

/** What can be done. Each route asks first whether this viewer may do it. */
export const actRoutes: Readonly<Record<string, Route>> = {
  async 'POST /agents'({ inspection, body, permit }) {
    await permit('add-agent');
    const url = addressIn(textIn(await body(), 'url').trim());
    const known = inspection.agents.find(({ link }) => link?.url === url);
    return summaryOf(known ?? Object.assign(inspection.add({ url }), { isAdded: true as const }));
  },

  async 'POST /hosts'({ body, permit, viewer }): Promise<{ agents: readonly ListedAgent[] }> {
    // A look is no action, and stands in no record.
    if (!(await isAllowed(viewer, 'add-agent', {}))) await permit('add-agent');
    const url = addressIn(textIn(await body(), 'url').trim());
    if (new URL(url).pathname !== '/') return { agents: [] };
    const listed = await agentsOf(url, { timeoutMs: catalogMs }).catch(() => []);
    return {
      agents: listed.flatMap(({ card, ...shown }) =>
        typeof card === 'string' ? { ...shown, url: card } : [],
      ),
    };
  },

  async 'POST /agents/:agent/remove'({ inspection, params, permit }) {
    await permit('add-agent', { agent: params.agent });
    inspection.remove(params.agent);
    return {};
  },

  async 'POST /agents/:agent/interface'({ inspection, params, body, permit }) {
    await permit('send', { agent: params.agent });
    const given = await body();
    linkOf(inspection.agent(params.agent)).use({
      binding: textIn(given, 'binding'),
      version: textIn(given, 'version'),
    });
    return {};
  },

  async 'POST /agents/:agent/messages'({ inspection, params, body, permit, viewer }) {
    const given = await body();
    const taskId = optionalText(given, 'taskId');
    await permit('send', { agent: params.agent, ...(taskId !== undefined && { taskId }) });
    const agent = inspection.agent(params.agent);
    const { parts, references, metadata } = given;
    if (!Array.isArray(parts) || parts.length === 0)
      throw new RequestError(400, 'A message needs at least one part');
    const contextId = optionalText(given, 'contextId');
    return sendMessage(linkOf(agent), agent.recordings, {
      parts: parts as Part[],
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
      ...(Array.isArray(references) && { references: references.map(String) }),
      ...(typeof metadata === 'object' && metadata !== null && { metadata: metadata as Struct }),
      ...(viewer.name !== undefined && { sentBy: viewer.name }),
    });
  },

  async 'POST /agents/:agent/tasks/:task/cancel'({ inspection, params, permit }) {
    await permit('cancel', { agent: params.agent, taskId: params.task });
    const client = await linkOf(inspection.agent(params.agent)).client();
    const { status } = await client.cancelTask({ id: params.task });
    return { state: status.state };
  },

  async 'POST /agents/:agent/tasks/:task/wake'(ask) {
    const { agent, scope } = await storedTask(ask, 'wake');
    await serverOf(agent).wake(wakeKeyOf(scope, ask.params.task));
    return {};
  },

  async 'POST /agents/:agent/tasks/:task/fork'(ask) {
    const { agent, given, tenant, caller } = await storedTask(ask, 'fork');
    const { position, result } = given;
    const message = Array.isArray(given.message) ? (given.message as Part[]) : optionalText(given, 'message');
    if (position !== undefined && !Number.isSafeInteger(position))
      throw new RequestError(400, 'position must be a whole number');
    const taskId = await forkTask(serverOf(agent), ask.params.task, {
      by: ask.viewer.name ?? 'inspector',
      tenant,
      caller,
      from: position as number | undefined,
      message,
      result,
    });
    return { taskId };
  },

  async 'POST /agents/:agent/tasks/:task/assign'(ask) {
    const { agent, given, tenant, caller } = await storedTask(ask, 'assign');
    const { expiresMs } = given;
    if (typeof expiresMs !== 'number' || !(expiresMs > 0 && expiresMs <= longestLinkMs))
      throw new RequestError(400, 'expiresMs must be a number of milliseconds, at most a year');
    const to = textIn(given, 'to').trim();
    if (to === '' || to.length > 200) throw new RequestError(400, 'to must be a text of 1 to 200 characters');
    const { url, expiresAt } = await serverOf(agent).answerLink(ask.params.task, {
      answeredBy: to,
      expiresMs,
      assignedBy: ask.viewer.name ?? 'inspector',
      tenant,
      caller,
    });
    return { url, expiresAt: expiresAt.toISOString() } satisfies AnswerLink;
  },

  async 'POST /agents/:agent/tasks/:task/redeliver'(ask) {
    const { agent, scope } = await storedTask(ask, 'redeliver');
    const { webhooks } = agent.store;
    if (!webhooks) throw new RequestError(404, 'The store of this agent keeps no webhooks');
    return { revived: await reviveAll(webhooks, scope, ask.params.task) };
  },

  async 'POST /erase'({ inspection, body, permit, viewer }): Promise<{ erased: readonly ErasedAt[] }> {
    const given = await body();
    const dryRun = given.dryRun === true;
    // A look is no action, and stands in no record.
    if (!dryRun || !(await isAllowed(viewer, 'erase', {}))) await permit('erase');
    const caller = textIn(given, 'caller');
    const erased: ErasedAt[] = [];
    for (const { id, server, store } of inspection.agents) {
      await store?.refresh();
      for (const tenant of new Set(store?.scopes.map((each) => each.tenant))) {
        const agent = server ?? { store: store!.tasks, name: store!.queue };
        erased.push({ agent: id, ...(await eraseTasks(agent, { caller, tenant, dryRun, waitMs: endMs })) });
      }
    }
    return { erased };
  },

  async 'POST /file'({ inspection, body, permit }) {
    const given = await body();
    const agent = textIn(given, 'agent');
    await permit('fetch-file', { agent });
    return fetchFile(inspection.agent(agent).link, textIn(given, 'url'));
  },

  async 'POST /kill'({ kill, permit }) {
    if (!kill) throw new RequestError(404, 'This inspector cannot kill its process');
    await permit('kill');
    setImmediate(kill);
    return {};
  },
};

/** The address of an agent, as people write it: without a scheme it is `http` on this machine and `https` elsewhere. */
function addressIn(text: string): string {
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text);
  const url = hasScheme ? text : `${namesThisMachine(text.split('/', 1)[0]!) ? 'http' : 'https'}://${text}`;
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url;
  throw new RequestError(400, 'The address of an agent is a host, or begins with http:// or https://');
}

type Body = Readonly<Record<string, unknown>>;

function textIn(body: Body, name: string): string {
  const text = optionalText(body, name);
  if (text === undefined || text === '') throw new RequestError(400, `${name} is missing`);
  return text;
}

function optionalText(body: Body, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new RequestError(400, `${name} must be text`);
}

function linkOf({ link, name }: Exhibit) {
  if (!link) throw new RequestError(404, `The inspector cannot call ${name}: it has the store only`);
  return link;
}

function serverOf({ server, name }: Exhibit) {
  if (!server) throw new RequestError(404, `The server of ${name} does not run in this process`);
  return server;
}

/** Gives all webhooks of a task another try that were given up. Resolves to how many. */
async function reviveAll(webhooks: PushConfigStore, scope: Scope, taskId: string): Promise<number> {
  let revived = 0;
  for (const { id, dead } of await webhooks.listPushConfigs(scope, taskId, { limit: mostWebhooks }))
    if (dead !== undefined && (await webhooks.revive(scope, taskId, id))) revived += 1;
  return revived;
}

/** The task of a request with which the viewer may do this: its agent, its scope in the store, and the body. */
async function storedTask({ inspection, params, body, permit }: Ask, action: Action) {
  await permit(action, { agent: params.agent, taskId: params.task });
  const { store, ...agent } = inspection.agent(params.agent);
  const given = await body();
  await store?.refresh();
  const place = store?.scopes[Number(given.scope ?? 0)];
  if (!place) throw new RequestError(404, 'The inspector does not have this scope of the store');
  return { agent: { ...agent, store }, given, ...place };
}

/** The largest file that is fetched for the app, in bytes. */
const maxBytes = 20 * 1024 * 1024;

/** Fetches a file that an agent named by URL: from public addresses, and from the address of the agent itself. */
export async function fetchFile(
  link: AgentLink | undefined,
  url: string,
): Promise<{ readonly mediaType: string; readonly base64: string }> {
  const own = link && URL.parse(link.url);
  const { bytes, mediaType = 'application/octet-stream' } = await fetchSafely(url, {
    maxBytes,
    ...(own && { allow: [`${own.hostname}:${own.port || (own.protocol === 'https:' ? '443' : '80')}`] }),
  });
  return { mediaType, base64: Buffer.from(bytes).toString('base64') };
}

/** Extensions whose content the app shows. They are activated if the card offers them. */
const shown: readonly string[] = [FORM_INPUT, TASK_PROGRESS, TASK_ERROR, TYPED_SKILLS];

/** How long a message waits for the first sign of its task, in milliseconds. */
const firstEventMs = 60_000;

/**
 * Sends a message. Resolves when the agent answered or its task exists; the task is followed from then
 * on, if there are `recordings`.
 */
export async function sendMessage(
  link: AgentLink,
  recordings: Recordings | undefined,
  command: SendCommand,
): Promise<Sent> {
  const { parts, taskId, contextId, references = [], metadata, sentBy } = command;
  const client = await link.client();
  const offered = client.card.capabilities?.extensions?.map(({ uri }) => uri) ?? [];
  const message: Message = {
    role: 'ROLE_USER',
    messageId: crypto.randomUUID(),
    parts: [...parts],
    ...(taskId && { taskId }),
    ...(contextId && { contextId }),
    ...(references.length > 0 && { referenceTaskIds: [...references] }),
    ...(sentBy !== undefined && { metadata: { [INSPECTOR]: { sentBy } } }),
  };
  const options = { extensions: offered.filter((uri) => shown.includes(uri)), ...(metadata && { metadata }) };
  if (taskId || !recordings) {
    if (taskId) recordings?.of(taskId).sent(message);
    const reply = await client.send(message, { ...options, returnImmediately: true });
    if (taskId) recordings?.open(taskId);
    return reply.task ? { taskId: reply.task.id } : answered(reply.message);
  }
  const recording = new Recording();
  recording.sent(message);
  recording.follow(async (tap, call) => (await link.connect(tap)).stream(message, { ...options, ...call }));
  await recording.begun(firstEventMs);
  if (!recording.task) {
    recording.stop();
    if (recording.answer) return answered(recording.answer);
    throw recording.failure ?? new Error('The agent said nothing');
  }
  recordings.adopt(recording.task.id, recording);
  return { taskId: recording.task.id };
}

const answered = ({ parts, contextId }: Message): Sent => ({
  message: { parts, ...(contextId && { contextId }) },
});
