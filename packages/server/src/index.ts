export type { Metadata, TaskUpdate } from '@batonjs/lifecycle';
export type { Artifact, Message, Part, Task } from '@batonjs/protocol';
export { A2AError } from '@batonjs/protocol/errors';
export { dataOf, textOf } from '@batonjs/protocol/parts';
export {
  type Agent,
  type Answer,
  type Claims,
  isTaskAgent,
  type ReferencedArtifact,
  type References,
  type Turn,
  taskAgent,
  type Updates,
} from './agent/agent.ts';
export {
  append,
  artifact,
  authRequired,
  canceled,
  completed,
  completedBeforeCancel,
  data,
  type Failure,
  failed,
  file,
  inputRequired,
  labels,
  link,
  rejected,
  reply,
  text,
  working,
} from './agent/builders.ts';
export type { Caller } from './agent/caller.ts';
export { emitting } from './agent/emitting.ts';
export { NonRetryableError } from './agent/retries/retry.ts';
export { coalesce, streamed } from './agent/streamed.ts';
export { type AgentServer, createAgentServer } from './agent-server.ts';
export type { Logger } from './base/hooks/logger.ts';
export type { Authenticate } from './front/calls/caller-limits.ts';
export { type CatalogAgent, type CatalogOptions, catalogOf } from './front/http/catalog.ts';
export type { Body, Handle, HttpExchange } from './front/http/request-body.ts';
export type { CardInput, SkillInput } from './operations/card/derived-members.ts';
export type { AgentServerOptions } from './options.ts';
