export { A2AError, type ErrorReason } from '@batonjs/protocol/errors';
export { dataOf, textOf } from '@batonjs/protocol/parts';
export type { AgentClient, TaskHandle } from './agent-client.ts';
export type { AgentOperations } from './agent-operations.ts';
export { type AnswerMessage, answer } from './answer.ts';
export {
  ArtifactLineage,
  type ArtifactVersion,
  refine,
  type SavedLineage,
  type Verdict,
} from './artifact-lineage.ts';
export type { CachedCard, CardCache } from './card-cache.ts';
export { ClientError, type ClientErrorCode } from './client-error.ts';
export type { Clock } from './clock.ts';
export { connect } from './connect.ts';
export { conversation, statusMessageIsLast } from './conversation.ts';
export type { MessageInput, SendOptions } from './message-input.ts';
export type { AgentEvent, AgentReply } from './one-of.ts';
export type {
  CallOptions,
  ConnectOptions,
  Credentials,
  CredentialsRequest,
  RetryOptions,
} from './settings.ts';
export { isInterrupted, isTerminal } from './states.ts';
export {
  type GraphEvent,
  type GraphOptions,
  type Replies,
  type Step,
  type StepState,
  TaskGraph,
} from './task-graph.ts';
export type { FollowOptions, TaskStream } from './task-stream.ts';
export { applyEvent, TaskView } from './task-view.ts';
