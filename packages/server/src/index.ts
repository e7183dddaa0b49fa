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
  link,
  rejected,
  reply,
  text,
  working,
} from './agent/builders.ts';
export type { Caller } from './agent/caller.ts';
export { emitting } from './agent/emitting.ts';
export { coalesce, streamed } from './agent/streamed.ts';
export { type AgentServer, createAgentServer } from './agent-server.ts';
export type { Authenticate } from './calls/authenticate.ts';
export type { CardInput, SkillInput } from './card/complete-card.ts';
export type { ExtendedCard, SignCard } from './card/served-cards.ts';
export type { Log } from './hooks/log-hook.ts';
export type { Body, Handle, HttpExchange } from './http/http-exchange.ts';
export type { Transition } from './log/write/transition.ts';
export type { AgentServerOptions } from './options.ts';
export type { PushOptions } from './push/push-options.ts';
export type { SignPush } from './push/sign-push.ts';
export type { Clock } from './timing/clock.ts';
export type { TurnEvent } from './turns/turn-event.ts';
