export { type McpCaller, type McpHandler, type McpHandlerOptions, mcpHandler } from './http/mcp-handler.ts';
export { TASK_META } from './server/results.ts';
export { type McpFactory, type McpOptions, toMcp } from './server/to-mcp.ts';
