export { type CallToolOptions, callTool } from './tools/call-tool.ts';
export { type McpClient, type McpToolInfo, ToolError, type ToolResult } from './tools/mcp-client.ts';
export { type McpTool, mcpTools } from './tools/mcp-tools.ts';
export { cancelToolTasks } from './tools/wait-for-task.ts';
