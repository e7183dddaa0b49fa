/** For adapters of frameworks. */
export {
  encodeSse,
  isForeignHost,
  isLoopbackAddress,
  namesThisMachine,
  parseJson,
  sseHeaders,
  sseHeartbeat,
  toHeaders,
} from '@batonjs/bindings';
export { mustKnowOptions, type OptionsOf, withDefaults } from '@batonjs/protocol/options';
/** For packages that watch a server. */
export type {
  DeliveryEnd,
  DeliverySpan,
  DeliveryStart,
  ObservedProcess,
  RequestSpan,
  RequestStart,
  Span,
  StepSpan,
  StoreCall,
  StoreOperation,
  Telemetry,
  TurnEnd,
  TurnSpan,
  TurnStart,
} from '../base/hooks/telemetry.ts';
export { answerInTime } from '../base/timing/within-deadline.ts';
export { callerOf } from './calls/caller-limits.ts';
export * from './http/fetch.ts';
export { isLarge, keepAliveMs, readBody, withOwnHost } from './http/request-body.ts';
