export { listen as listenMcp, type McpAddress } from './http/listen.ts';
export { type McpStdioOptions, serveMcpStdio } from './stdio/serve-mcp-stdio.ts';
