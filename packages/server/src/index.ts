export type { Metadata, TaskUpdate } from '@batonjs/lifecycle';
export type { Artifact, Message, Part, Task } from '@batonjs/protocol';
export { A2AError } from '@batonjs/protocol/errors';
export { dataOf, textOf } from '@batonjs/protocol/parts';
export {
  type AddressPolicy,
  type AddressPolicyOptions,
  addressPolicy,
  type Destination,
} from './address-policy/address-policy.ts';
export { AddressRefused, isAddressRefused } from './address-policy/address-refused.ts';
export { type FetchedFile, type FetchFileOptions, fetchFile } from './address-policy/fetch-file.ts';
export type { Resolve } from './address-policy/resolve-host.ts';
export { type SafeFetchOptions, safeFetch } from './address-policy/safe-fetch.ts';
export {
  type Agent,
  type Answer,
  type Claims,
  type Inbox,
  isTaskAgent,
  type JsonOf,
  type ReferencedArtifact,
  type References,
  type Turn,
  type TurnContext,
  taskAgent,
  type Updates,
} from './agent/agent.ts';
export {
  type ArtifactOptions,
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
  type Note,
  type PartLike,
  type PartOptions,
  rejected,
  reply,
  text,
  working,
} from './agent/builders.ts';
export { type Emit, emitting } from './agent/emitting.ts';
export { type CoalesceOptions, coalesce, streamed } from './agent/streamed.ts';
export { type AgentServer, createAgentServer } from './agent-server.ts';
export type { CardInput, SkillInput } from './card/complete-card.ts';
export type { ExtendedCard, SignCard } from './card/served-cards.ts';
export type { Log } from './hooks/log-hook.ts';
export type { Authenticate } from './http/authenticate.ts';
export type { CorsOptions } from './http/cors.ts';
export type { Body, Handle, HttpExchange } from './http/http-exchange.ts';
export type { Tenants } from './http/tenants.ts';
export type { Limits, TaskClocks } from './limits/limits.ts';
export type { Transition } from './log/write/transition.ts';
export type { Caller } from './operations/call/call-context.ts';
export type { AgentServerOptions, WorkerOptions } from './options.ts';
export type { DeadLetter, PushDeliveries } from './push/dead-letters.ts';
export type { PushOptions, PushRetry } from './push/push-options.ts';
export type { PushClaims, SignPush, UnsignedDelivery } from './push/sign-push.ts';
export type { PushUpdates } from './push/wanted-update.ts';
export type { Readiness } from './store/readiness.ts';
export { type RunTurnOptions, runTurn, type TurnOutcome } from './testing/run-turn.ts';
export type { Clock } from './timing/clock.ts';
export type { TurnEvent } from './turns/turn-event.ts';
export { createWorker, type Worker } from './worker.ts';
