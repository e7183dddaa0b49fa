export { AI_SDK } from './metadata.ts';
export { type A2AToolsOptions, a2aTools } from './tools/a2a-tools.ts';
export type { A2AToolResult } from './tools/result.ts';
