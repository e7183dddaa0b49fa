import type { AgentClient } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
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

/** Makes an MCP server for one connection. `serveStdio` and `createMcpHandler` of the SDK take it. */
export type McpFactory = (connection: Pick<McpRequestContext, 'era'>) => Server;

/**
 * Makes an agent an MCP server: each of its skills is a tool. Throws `RangeError` for a `waitMs` out of bounds.
 *
 * Serve it over stdio with `serveStdio(toMcp(agent))` of the MCP SDK, or over HTTP with `mcpHandler(agent)`.
 */
export function toMcp(agent: AgentClient, { waitMs = 0, onError = () => {} }: McpOptions = {}): McpFactory {
  if (!(waitMs >= 0 && waitMs < 2 ** 31))
    throw new RangeError(`waitMs is from 0 to 2147483647, not ${waitMs}`);
  return ({ era }) => createServer(agent, era === 'legacy', { waitMs, onError });
}

function createServer(agent: AgentClient, hasTasks: boolean, options: Required<McpOptions>): Server {
  const { name, description, version } = agent.card;
  const capabilities = { tools: {}, ...(hasTasks && { tasks: taskCapability }) };
  const server = new Server(
    { name, version: version || '0.0.0' },
    { capabilities, ...(description && { instructions: description }) },
  );
  const { onError } = options;
  server.onerror = onError;
  const callOf = (context: ServerContext): Call => ({
    agent,
    context,
    extensions: extensionsOf(agent),
    waitMs: options.waitMs,
    onError,
    notify: progressNotifier(context, agent.card),
  });
  const asks = (context: ServerContext) =>
    showsForms(capabilitiesOf(context, server.getClientCapabilities()));

  server.setRequestHandler('tools/list', async (_request, context) => {
    // The tools of a card that cannot be read again are those that it had.
    await agent.readCard().catch(onError);
    const isAsked = asks(context);
    return { tools: [...toolsOf(agent.card).values()].map((tool) => listed(tool, isAsked, hasTasks)) };
  });

  const perform = async (params: CallToolRequest['params'], context: ServerContext) => {
    const tool = toolsOf(agent.card).get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const call = callOf(context);
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

  // A tool call lasts as long as its task here: `waitMs` is for calls that a client would give up.
  const converse = (context: ServerContext) =>
    new Conversation({ ...callOf(context), waitMs: 0 }, asks(context));
  if (hasTasks) addTaskMethods(server, agent, converse, onError);
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
