/** For the command line, which serves an agent in development to an assistant. May change in any release. */
export { type Development, developmentMcp, type LogEntry } from './development/development-mcp.ts';
export { NotRunning } from './development/not-running.ts';
