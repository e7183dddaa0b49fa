/** For adapters of frameworks with `Request` and `Response`. */

/** For packages that watch a server. */
export type {
  DeliveryEnd,
  DeliverySpan,
  DeliveryStart,
  RequestSpan,
  RequestStart,
  Span,
  Telemetry,
  TurnEnd,
  TurnSpan,
  TurnStart,
} from './hooks/telemetry.ts';
export { type Asked, answerRequest, webMountUrlOf } from './http/fetch.ts';
