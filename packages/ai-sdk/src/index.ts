export type { ModelPrices } from '@batonjs/server/internals';
export type { ModelStream, ModelTurn, StreamedAgentOptions } from './agent/options.ts';
export { streamedAgent } from './agent/streamed-agent.ts';
export { AI_SDK } from './metadata.ts';
export { type A2AToolsOptions, a2aTools } from './tools/a2a-tools.ts';
export type { A2AToolResult } from './tools/result.ts';
