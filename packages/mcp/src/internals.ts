/** For the command line, which serves an agent in development to an assistant. May change in any release. */
export type { Development } from './development/development.ts';
export { developmentMcp } from './development/development-mcp.ts';
export { NotRunning } from './development/not-running.ts';
export type { LogEntry } from './development/timeline.ts';
