export { type McpHandler, type McpHandlerOptions, mcpHandler } from './http/mcp-handler.ts';
export type { McpCaller } from './http/sessions.ts';
export { type McpFactory, type McpOptions, toMcp } from './server/to-mcp.ts';
export type { McpTaskOptions, TaskSupport } from './tasks/task-options.ts';
export { TASK_META } from './translation/results.ts';
