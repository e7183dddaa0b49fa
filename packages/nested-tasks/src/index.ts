export type { Callee } from './agents/agents.ts';
export type { Call, CallingAgent, CallingTurn, CallOptions } from './call.ts';
export { CallError, type CallErrorCode } from './call-error.ts';
export { type Relay, relayAll, relayProgress } from './children/relay.ts';
export { type NestedTasks, type NestedTasksOptions, nestedTasks } from './nested-tasks.ts';
