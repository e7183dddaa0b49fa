import type { AgentClient } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import type { AgentCard } from '@batonjs/protocol';
import { mustKnowOptions, type OptionNames } from '@batonjs/protocol/options';
import {
  type CallToolRequest,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { Conversation, capabilitiesOf, showsForms } from './conversation.ts';
import { failedResult, type OnError } from './failures.ts';
import type { Call } from './follow.ts';
import { progressNotifier } from './progress.ts';
import { resultOf } from './results.ts';
import { addTaskMethods, taskCapability, toMcpTask } from './task-methods.ts';
import { callTool, continueTask, sendArguments } from './tool-call.ts';
import { CONTINUE_TASK, type SkillTool, toolsOf } from './tool-list.ts';

/** Options of `toMcp` and `mcpHandler`. */
export interface McpOptions {
  /**
   * Milliseconds after which a tool call returns although its task still runs; `continue_task` waits on. Default 0: a
   * call lasts as long as its task. At most 2,147,483,647.
   */
  readonly waitMs?: number;
  /** Sees the errors that clients are not shown. Default: they are dropped. */
  readonly onError?: OnError;
}

/** The options of every MCP server, by which an unknown one is found. */
export const ofMcp: OptionNames<McpOptions> = { waitMs: true, onError: true };

/** Makes an MCP server for one connection. `serveStdio` and `createMcpHandler` of the SDK take it. */
export type McpFactory = (connection: Pick<McpRequestContext, 'era'>) => Server;

/**
 * Makes an agent an MCP server: each of its skills is a tool. Throws `RangeError` for a `waitMs` out of bounds,
 * and `TypeError` for an option that does not exist.
 *
 * Serve it over stdio with `serveStdio(toMcp(agent))` of the MCP SDK, or over HTTP with `mcpHandler(agent)`.
 */
export function toMcp(agent: AgentClient, options: McpOptions = {}): McpFactory {
  mustKnowOptions(options, ofMcp);
  const createServer = serverFactory(options);
  return ({ era }) => createServer(era, agent.card, () => agent);
}

/** Makes an MCP server that introduces itself with the card. Each request gets the agent that `agentOf` chooses. */
export type CreateServer = (
  era: McpRequestContext['era'],
  card: AgentCard,
  agentOf: (context: ServerContext) => AgentClient,
) => Server;

/** Makes MCP servers with the same options. Throws `RangeError` for a `waitMs` out of bounds. */
export function serverFactory({ waitMs = 0, onError = () => {} }: McpOptions): CreateServer {
  if (!(waitMs >= 0 && waitMs < 2 ** 31))
    throw new RangeError(`waitMs is from 0 to 2147483647, not ${waitMs}`);
  return (era, card, agentOf) => createServer(era === 'legacy', card, agentOf, { waitMs, onError });
}

function createServer(
  hasTasks: boolean,
  { name, description, version }: AgentCard,
  agentOf: (context: ServerContext) => AgentClient,
  options: Required<McpOptions>,
): Server {
  const capabilities = { tools: {}, ...(hasTasks && { tasks: taskCapability }) };
  const server = new Server(
    { name, version: version || '0.0.0' },
    { capabilities, ...(description && { instructions: description }) },
  );
  const { onError } = options;
  server.onerror = onError;
  const callOf = (context: ServerContext): Call => {
    const agent = agentOf(context);
    return {
      agent,
      context,
      extensions: extensionsOf(agent),
      waitMs: options.waitMs,
      cancelsTask: true,
      onError,
      notify: progressNotifier(context, agent.card),
    };
  };
  const asks = (context: ServerContext) =>
    showsForms(capabilitiesOf(context, server.getClientCapabilities()));

  server.setRequestHandler('tools/list', async (_request, context) => {
    const agent = agentOf(context);
    // The tools of a card that cannot be read again are those that it had.
    await agent.readCard().catch(onError);
    const isAsked = asks(context);
    return { tools: [...toolsOf(agent.card).values()].map((tool) => listed(tool, isAsked, hasTasks)) };
  });

  const perform = async (params: CallToolRequest['params'], context: ServerContext) => {
    const call = callOf(context);
    const tool = toolsOf(call.agent.card).get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const conversation = new Conversation(call, asks(context));
    if (params.name === CONTINUE_TASK) return continueTask(call, conversation, params.arguments);
    if (hasTasks && params.task) return startTask(call, tool, params.arguments);
    return callTool(call, conversation, tool, params.arguments);
  };
  server.setRequestHandler('tools/call', ({ params }, context) =>
    perform(params, context).catch((error: unknown) => {
      context.mcpReq.signal.throwIfAborted();
      return failedResult(error, onError);
    }),
  );

  // `tasks/result` waits for a task that goes on without it: `waitMs` is for calls that a client would give up, and only
  // `tasks/cancel` cancels. Spec: MCP 2025-11-25, Tasks.
  const converse = (context: ServerContext) =>
    new Conversation({ ...callOf(context), waitMs: 0, cancelsTask: false }, asks(context));
  if (hasTasks) addTaskMethods(server, agentOf, converse, onError);
  return server;
}

/** Starts a task of MCP. An agent that answers with a message made no task: its answer is the result. */
async function startTask(call: Call, tool: SkillTool, args: CallToolRequest['params']['arguments']) {
  const reply = await sendArguments(call, tool, args, (input, options) =>
    call.agent.send(input, {
      ...options,
      extensions: [...new Set([...call.extensions, ...(options?.extensions ?? [])])],
      returnImmediately: true,
    }),
  );
  if ('content' in reply) return reply;
  // The SDK wants content in every result of a tool; clients that asked for a task read `task`.
  return reply.task ? { content: [], task: toMcpTask(reply.task) } : resultOf(reply);
}

/**
 * A tool as this client gets it. A result without the output, such as a question, would break an output schema, and
 * clients that cannot elicit get such results.
 */
function listed({ tool }: SkillTool, isAsked: boolean, hasTasks: boolean): Tool {
  const { outputSchema, ...rest } = tool;
  return {
    ...rest,
    ...(outputSchema && isAsked && { outputSchema }),
    ...(hasTasks && tool.name !== CONTINUE_TASK && { execution: { taskSupport: 'optional' as const } }),
  };
}

/** The extensions that the agent offers, of those that make results and questions better. */
function extensionsOf({ card }: AgentClient): string[] {
  const offered = card.capabilities?.extensions?.map(({ uri }) => uri) ?? [];
  return [FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS].filter((uri) => offered.includes(uri));
}
