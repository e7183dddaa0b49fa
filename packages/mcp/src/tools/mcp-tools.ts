import type { TaskUpdate, Turn } from '@batonjs/server';
import { type CallToolOptions, callTool } from './call-tool.ts';
import { type McpClient, type McpToolInfo, mustBeClient2, type ToolResult } from './mcp-client.ts';

/** A tool of an MCP server, ready to be called in a turn. */
export interface McpTool extends McpToolInfo {
  /** Calls the tool, as `callTool` does: `yield* tool.call({ query })`. */
  call(
    args?: Readonly<Record<string, unknown>>,
    options?: CallToolOptions,
  ): AsyncGenerator<TaskUpdate, ToolResult, void>;
}

/** The tools of an MCP server, for an agent that lets a model choose. They are read again in each attempt. Rejects with `TypeError` for a client of the SDK 1. */
export async function mcpTools(turn: Turn, client: McpClient): Promise<McpTool[]> {
  mustBeClient2(client);
  const { tools } = await client.listTools(undefined, { signal: turn.signal });
  return tools.map((tool) => ({
    ...tool,
    call: (args, options) => callTool(turn, client, tool.name, args, options),
  }));
}
