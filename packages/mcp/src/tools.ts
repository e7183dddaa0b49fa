export { type CallToolOptions, callTool } from './tools/call-tool.ts';
export type { McpClient, McpToolInfo, ToolResult } from './tools/mcp-client.ts';
export { type McpTool, mcpTools } from './tools/mcp-tools.ts';
export { cancelToolTasks } from './tools/open-tasks.ts';
export { ToolError } from './tools/tool-error.ts';
