import type { OperationName } from '@batonjs/protocol/operations';

// A version of the protocol besides 1.0, for bindings that carry protocol buffers, such as gRPC.

/** The messages and the service of a version, and how they translate to the objects of 1.0. Pure data and functions. */
export interface ProtobufVersion {
  /** `Major.Minor`. */
  readonly version: string;
  /** Such as `a2a.v1`. */
  readonly package: string;
  /** The name of the service in its package. */
  readonly service: string;
  /**
   * The fields of each message as `number name type`, with commas between them. `[]` follows a list, `{}` a map with
   * string keys, `?` explicit presence, `*` a field that is read as its default value if it is absent; `@kind` names the
   * oneof that a field belongs to.
   */
  readonly messages: Readonly<Record<string, string>>;
  /** The names of each enum in the order of their numbers, from 0. */
  readonly enums: Readonly<Record<string, readonly string[]>>;
  readonly methods: readonly ProtobufMethod[];
}

/** One method of such a service. Messages are in their JSON form. */
export interface ProtobufMethod {
  readonly operation: OperationName;
  readonly name: string;
  /** The name of a message of the table, or `Empty`. */
  readonly request: string;
  readonly response: string;
  /** The params of 1.0 in a request. Throws an `A2AError` for a request that has none. */
  readParams(request: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** The request with params of 1.0. Throws an `A2AError` for params that the version cannot say. */
  writeParams(params: Readonly<Record<string, unknown>>): unknown;
  /** The result of 1.0, or the event of a stream, in a response. Throws an `A2AError` for a response that makes no sense. */
  readResult(response: Readonly<Record<string, unknown>>): unknown;
  /** The response with a result of 1.0, or with an event. `isLast`, of events: nothing follows in this stream. */
  writeResult(result: unknown, isLast?: boolean): unknown;
  /** The position that a `SubscribeToTask` without one starts at, as in `IncomingCall`. */
  readonly impliedPosition?: string;
}
