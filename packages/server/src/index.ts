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
} from './agent.ts';
export { type AgentServer, createAgentServer } from './agent-server.ts';
export type { Authenticate } from './authenticate.ts';
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
} from './builders.ts';
export type { Caller } from './call-context.ts';
export type { CardInput, SkillInput } from './card.ts';
export type { ExtendedCard, SignCard } from './cards.ts';
export type { Clock } from './clock.ts';
export type { CorsOptions } from './cors.ts';
export { type Emit, emitting } from './emitting.ts';
export type { Body, Handle, HttpExchange } from './http-exchange.ts';
export type { Log } from './log.ts';
export type { AgentServerOptions, WorkerOptions } from './options.ts';
export type { DeadLetter, PushDeliveries } from './push/dead-letters.ts';
export type { PushOptions, PushRetry } from './push/push-options.ts';
export type { PushClaims, SignPush, UnsignedDelivery } from './push/sign-push.ts';
export type { PushUpdates } from './push/wanted-update.ts';
export type { Readiness } from './readiness.ts';
export { type RunTurnOptions, runTurn, type TurnOutcome } from './run-turn.ts';
export type { Limits, TaskClocks } from './settings.ts';
export { type CoalesceOptions, coalesce, streamed } from './streamed.ts';
export type { Tenants } from './tenants.ts';
export type { Transition } from './transition.ts';
export type { TurnEvent } from './turn-event.ts';
export { createWorker, type Worker } from './worker.ts';
