import type { AgentCard } from '@batonjs/protocol';
import type { OperationName } from '@batonjs/protocol/operations';

/** A call that begins. */
export interface CallStart {
  readonly operation: OperationName;
  readonly params: Readonly<Record<string, unknown>>;
  /** The agent's card. */
  readonly card: AgentCard;
  /** The address of the interface in use, as a URL of HTTP. */
  readonly address: string;
  /** `Major.Minor` of the protocol. */
  readonly version: string;
  /** The name of the binding, such as `JSONRPC`. */
  readonly binding: string;
  /** The stream goes on after this event of an earlier one. */
  readonly lastEventId?: string | undefined;
}

/** A call while it lasts, with all its attempts. */
export interface CallSpan {
  /** Headers that every request of the call carries, such as `traceparent`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Calls the function in the context of the span. */
  run<T>(fn: () => T): T;
  /** An attempt failed, and another one begins. */
  retried(error: unknown): void;
  /** Called with the result, or with each event of the stream. */
  saw(result: unknown): void;
  /** `error`: the one that the caller gets. A caller that leaves a stream is no error. */
  end(error?: unknown): void;
}

/**
 * What a client tells about its calls while they last. `@batonjs/telemetry` passes it to OpenTelemetry. What a method
 * throws is printed, and changes no call.
 */
export interface ClientTelemetry {
  call(start: CallStart): CallSpan;
}
