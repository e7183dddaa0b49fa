import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { McpFactory } from '../server/to-mcp.ts';
import { invalid } from '../server/tool-call.ts';
import { failedResult } from '../translation/failures.ts';
import { textResult } from '../translation/results.ts';
import type { Development } from './development.ts';
import { Docs } from './docs.ts';
import { describeAgent, listTasks, showTimeline } from './look.ts';
import { NotRunning } from './not-running.ts';
import { readDocs, searchDocs } from './read-docs.ts';
import { shownReply } from './shown-reply.ts';
import { answerTask, forkTask, send } from './talk.ts';
import { type Arguments, descriptions, schemas, type ToolName } from './tools.ts';

const instructions =
  'For writing and debugging an agent on Baton. Search the documentation before you use a feature: do not guess ' +
  'names. After each change of the file call agent, then send. Look at the timeline of a task that did not do what ' +
  'you expected.';

const tools: readonly Tool[] = Object.entries(schemas).map(([name, schema]) => ({
  name,
  description: descriptions[name as ToolName],
  inputSchema: z.toJSONSchema(schema, { io: 'input' }) as Tool['inputSchema'],
}));

/** Makes an agent in development an MCP server: its tasks and logs, calls to it, and the documentation. */
export function developmentMcp(development: Development): McpFactory {
  const { onError = () => {} } = development;
  const perform = performers(development);
  return () => {
    const server = new Server(
      { name: 'baton-dev', version: '0.0.0' },
      { capabilities: { tools: {} }, instructions },
    );
    server.onerror = onError;
    server.setRequestHandler('tools/list', () => ({ tools: [...tools] }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { name } = params;
      if (!isTool(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
      const parsed = schemas[name].safeParse(params.arguments ?? {});
      if (!parsed.success) return invalid(parsed.error);
      try {
        return await perform[name](parsed.data as never, context);
      } catch (error) {
        context.mcpReq.signal.throwIfAborted();
        return NotRunning.is(error) ? textResult(error.message, true) : failedResult(error, onError);
      }
    });
    return server;
  };
}

const isTool = (name: string): name is ToolName => Object.hasOwn(schemas, name);

type Performers = {
  readonly [Name in ToolName]: (
    args: Arguments<Name>,
    context: ServerContext,
  ) => CallToolResult | Promise<CallToolResult>;
};

function performers(development: Development): Performers {
  let known: Docs | undefined;
  const docs = (): Docs | undefined => {
    const folder = known ? undefined : development.docs();
    if (folder !== undefined) known = new Docs(folder);
    return known;
  };
  return {
    agent: (args) => describeAgent(development, args),
    send: (args, context) => send(development, args, context),
    answer: (args, context) => answerTask(development, args, context),
    list_tasks: (args) => listTasks(development, args),
    timeline: (args) => showTimeline(development, args),
    fork: (args, context) => forkTask(development, args, context),
    cancel: async ({ taskId }) =>
      shownReply({ task: await (await development.agent()).task(taskId).cancel() }),
    search_docs: (args) => searchDocs(docs(), args),
    read_docs: (args) => readDocs(docs(), args),
  };
}
