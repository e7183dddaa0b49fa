export { A2AError, type ErrorReason } from '@batonjs/protocol/errors';
export { dataOf, textOf } from '@batonjs/protocol/parts';
export { type AgentClient, type AgentOperations, connect, type TaskHandle } from './agent-client.ts';
export { agentsOf, type CataloguedAgent } from './card/catalog.ts';
export { ClientError, type ClientErrorCode, isTransient, wasNotConnected } from './client-error.ts';
export type { UploadContent, UploadOptions } from './connection/upload.ts';
export { type AnswerMessage, answer } from './conversation/answer.ts';
export { conversation, statusMessageIsLast } from './conversation/conversation.ts';
export type { MessageInput, SendOptions } from './conversation/message-input.ts';
export * from './conversation/refine.ts';
export type { FollowOptions, TaskStream } from './following/task-stream.ts';
export { applyEvent, TaskView } from './following/task-view.ts';
export type {
  CachedCard,
  CallOptions,
  CardCache,
  Clock,
  ConnectOptions,
  Credentials,
  CredentialsRequest,
  RetryOptions,
} from './options/connect-options.ts';
export type { CallSpan, CallStart, ClientTelemetry } from './options/telemetry.ts';
export { type AgentEvent, type AgentReply, isInterrupted, isTerminal } from './replies/agent-reply.ts';
