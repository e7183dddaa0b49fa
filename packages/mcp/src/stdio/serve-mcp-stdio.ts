import type { AgentClient } from '@batonjs/client';
import { mustKnowOptions } from '@batonjs/protocol/options';
import type { Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type McpOptions, mcpOptions, serverFactory } from '../server/to-mcp.ts';
import { TaskTransport } from './task-transport.ts';

/** Options of `serveMcpStdio`. */
export interface McpStdioOptions extends McpOptions {
  /** Default: standard input and output of the process. */
  readonly transport?: Transport | undefined;
}

/**
 * Serves an agent as an MCP server over standard input and output, as `serveStdio(toMcp(agent))` of the SDK does, and
 * tells clients that ask for it of their tasks (`subscriptions/listen`), which the SDK does not. `close` ends it; tasks
 * of the agent go on. Throws `RangeError` for an option out of bounds, and `TypeError` for one that does not exist.
 */
export function serveMcpStdio(
  agent: AgentClient,
  { transport = new StdioServerTransport(), ...options }: McpStdioOptions = {},
): { close(): Promise<void> } {
  mustKnowOptions(options, mcpOptions);
  const { createServer, tasks } = serverFactory(options);
  return serveStdio(({ era }) => createServer(era, agent.card, () => agent), {
    transport: new TaskTransport(transport, agent, tasks),
    onerror: tasks.onError,
  });
}
