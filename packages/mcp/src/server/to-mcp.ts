import { type AgentClient, type AgentEvent, textOf } from '@batonjs/client';
import { progressOf, TASK_PROGRESS } from '@batonjs/extensions/client';
import type { AgentCard } from '@batonjs/protocol';
import { guardHook } from '@batonjs/protocol/hooks';
import { mustKnowOptions, type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import {
  type CallToolRequest,
  type ClientCapabilities,
  type McpRequestContext,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { ClosedQuestions } from '../tasks/input-requests.ts';
import {
  capabilitiesOf,
  extensionMissing,
  type McpTaskOptions,
  readTaskOptions,
  showsForms,
  TASKS_EXTENSION,
  takesHandles,
} from '../tasks/task-options.ts';
import { addTaskRequests, type TaskRequests } from '../tasks/task-requests.ts';
import { failedResult, invalidParams, type OnError } from '../translation/results.ts';
import { CONTINUE_TASK, extensionsOf, type SkillTool, toolsOf } from '../translation/tool-list.ts';
import { Conversation, callTool, continueTask } from './conversation.ts';
import type { Call } from './follow.ts';
import { callForHandle, startTask } from './start-task.ts';
import { addTaskMethods, taskCapability } from './task-methods.ts';

/** The options of every MCP server, with their defaults. */
export const mcpOptions = {
  /**
   * Milliseconds after which a tool call returns although its task still runs; `continue_task` waits on. Default 0: a
   * call lasts as long as its task. At most 2,147,483,647.
   */
  waitMs: 0,
  /** How calls become tasks for clients that declare the extension for tasks of MCP 2026-07-28. */
  tasks: undefined as McpTaskOptions | undefined,
  /**
   * Whether the model of a host may approve with `continue_task` what the agent asks an approval for, such as a call of a
   * tool. Default false: only a user approves, whom the host asks (elicitation).
   */
  modelApproves: false,
  /**
   * Sees the errors that clients are not shown. Default: they are dropped, but for those with which `mcpHandler` refuses a
   * request as a fault of its own, which are written to standard error.
   */
  onError: undefined as OnError | undefined,
};

/** Options of `toMcp` and `mcpHandler`. */
export type McpOptions = OptionsOf<typeof mcpOptions>;

/** Makes an MCP server for one connection. `serveStdio` and `createMcpHandler` of the SDK take it. */
export type McpFactory = (connection: Pick<McpRequestContext, 'era'>) => Server;

/**
 * Makes an agent an MCP server: each of its skills is a tool. Throws `RangeError` for an option out of bounds, and
 * `TypeError` for one that does not exist.
 *
 * Serve it over stdio with `serveStdio(toMcp(agent))` of the MCP SDK, or over HTTP with `mcpHandler(agent)`.
 */
export function toMcp(agent: AgentClient, options: McpOptions = {}): McpFactory {
  mustKnowOptions(options, mcpOptions);
  const { createServer } = serverFactory(options);
  return ({ era }) => createServer(era, agent.card, () => agent);
}

/** Makes an MCP server that introduces itself with the card. Each request gets the agent that `agentOf` chooses. */
type CreateServer = (
  era: McpRequestContext['era'],
  card: AgentCard,
  agentOf: (context: ServerContext) => AgentClient,
) => Server;

/** Makes MCP servers with the same options, and what these share. Throws `RangeError` for an option out of bounds. */
export function serverFactory(options: McpOptions) {
  const { waitMs, tasks = {}, modelApproves, onError } = withDefaults(mcpOptions, options);
  if (!(waitMs >= 0 && waitMs < 2 ** 31))
    throw new RangeError(`waitMs is from 0 to 2147483647, not ${waitMs}`);
  const requests: TaskRequests = {
    settings: readTaskOptions(tasks, waitMs),
    closedQuestions: new ClosedQuestions(),
    onError: guardHook('onError', onError),
  };
  const create: CreateServer = (era, card, agentOf) =>
    createServer(era, card, agentOf, { waitMs, modelApproves, tasks: requests });
  return { createServer: create, tasks: requests };
}

/** What all servers of a handler have. */
interface Settings extends Required<Pick<McpOptions, 'waitMs' | 'modelApproves'>> {
  readonly tasks: TaskRequests;
}

function createServer(
  era: McpRequestContext['era'],
  { name, description, version }: AgentCard,
  agentOf: (context: ServerContext) => AgentClient,
  { waitMs, modelApproves, tasks }: Settings,
): Server {
  const isLegacy = era === 'legacy';
  const capabilities = {
    tools: {},
    ...(isLegacy ? { tasks: taskCapability } : { extensions: { [TASKS_EXTENSION]: {} } }),
  };
  const server = new Server(
    { name, version: version || '0.0.0' },
    { capabilities, ...(description && { instructions: description }) },
  );
  const { onError } = tasks;
  server.onerror = onError;
  const callOf = (context: ServerContext): Call => {
    const agent = agentOf(context);
    return {
      agent,
      context,
      extensions: extensionsOf(agent),
      waitMs,
      cancelsTask: true,
      modelApproves,
      onError,
      notify: progressNotifier(context, agent.card),
    };
  };
  const clientOf = (context: ServerContext) => capabilitiesOf(context, server.getClientCapabilities());

  server.setRequestHandler('tools/list', async (_request, context) => {
    const agent = agentOf(context);
    // The tools of a card that cannot be read again are those that it had.
    await agent.readCard().catch(onError);
    const isAsked = showsForms(clientOf(context));
    return { tools: [...toolsOf(agent.card).values()].map((tool) => listed(tool, isAsked, isLegacy)) };
  });
  server.setRequestHandler('tools/call', ({ params }, context) =>
    perform(callOf(context), params, { isLegacy, client: clientOf(context), tasks }).catch(
      (error: unknown) => {
        context.mcpReq.signal.throwIfAborted();
        return failedResult(error, onError);
      },
    ),
  );

  // `tasks/result` waits for a task that goes on without it: `waitMs` is for calls that a client would give up, and only
  // `tasks/cancel` cancels. Spec: MCP 2025-11-25, Tasks.
  const converse = (context: ServerContext) =>
    new Conversation({ ...callOf(context), waitMs: 0, cancelsTask: false }, showsForms(clientOf(context)));
  if (isLegacy) addTaskMethods(server, agentOf, converse, onError);
  else addTaskRequests(server, agentOf, tasks);
  return server;
}

/** Answers a call of a tool: with a handle if the client takes one and the tool allows it, else with the result. */
async function perform(
  call: Call,
  { name, arguments: args, task }: CallToolRequest['params'],
  {
    isLegacy,
    client,
    tasks: { settings, closedQuestions },
  }: { readonly isLegacy: boolean; readonly client: ClientCapabilities; readonly tasks: TaskRequests },
) {
  const tool = toolsOf(call.agent.card).get(name);
  if (!tool) throw invalidParams(`Unknown tool: ${name}`);
  const asks = showsForms(client);
  const conversation = new Conversation(call, asks);
  if (name === CONTINUE_TASK) return continueTask(call, conversation, args);
  if (isLegacy && task) return startTask(call, tool, args);
  if (!isLegacy) {
    const support = settings.supportOf(name);
    const isTaken = takesHandles(client);
    if (support === 'required' && !isTaken) throw extensionMissing();
    if (isTaken && support !== 'forbidden') {
      const view = { client, settings, closedQuestions };
      return callForHandle(call, tool, args, view, { isImmediate: support !== 'deferred', asks });
    }
  }
  return callTool(call, conversation, tool, args);
}

/**
 * A tool as this client gets it. A result without the output, such as a question, would break an output schema, and
 * clients that cannot elicit get such results.
 */
function listed({ tool }: SkillTool, isAsked: boolean, isLegacy: boolean): Tool {
  const { outputSchema, ...rest } = tool;
  return {
    ...rest,
    ...(outputSchema && isAsked && { outputSchema }),
    ...(isLegacy && tool.name !== CONTINUE_TASK && { execution: { taskSupport: 'optional' as const } }),
  };
}

/** The most characters of a message that one notification has. */
const longestMessage = 1_000;

/**
 * Tells a client that sent a `progressToken` of each update of the task, and does nothing for others. The numbers are
 * the agent's own where it offers the extension for progress, and count the updates where it does not. They only grow,
 * as MCP wants them to.
 */
export function progressNotifier(
  { mcpReq }: ServerContext,
  card: AgentCard,
): (event: AgentEvent) => Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return async () => {};
  const hasNumbers = card.capabilities?.extensions?.some(({ uri }) => uri === TASK_PROGRESS);
  let last = 0;
  return async (event) => {
    const { statusUpdate, artifactUpdate } = event;
    if (!statusUpdate && !artifactUpdate) return;
    const known = hasNumbers ? progressOf(event) : undefined;
    const progress = known?.progress ?? (hasNumbers ? last : last + 1);
    // An update without a number that grows goes a little further, so that its text is seen.
    const next = progress > last ? progress : last + 1e-6;
    last = next;
    const text = textOf(statusUpdate?.status.message ?? artifactUpdate?.artifact).slice(0, longestMessage);
    await mcpReq.notify({
      method: 'notifications/progress',
      params: {
        progressToken,
        progress: next,
        ...(known && { total: known.total }),
        ...(text && { message: text }),
      },
    });
  };
}
