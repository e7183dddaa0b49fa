import type { A2AError } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import type { HttpReply, HttpRequest, IncomingReply, OutgoingRequest } from './http.ts';

/** A call of one operation. */
export interface Call {
  readonly operation: OperationName;
  /** The request object, `tenant` included. On a server it is not validated yet. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Correlates a reply with its request, where the binding needs that. */
  readonly id?: string | number | null;
}

/** A call that a server received, with the request that carried it. */
export interface ReceivedCall extends Call {
  readonly request: HttpRequest;
  /**
   * The position to resume a stream after, in place of the request's `Last-Event-ID`. With text that names no position, the
   * stream starts with the task as it is, even if it has ended.
   */
  readonly lastEventId?: string;
}

/** The members that both halves have. */
interface Named {
  /** As in `AgentInterface.protocolBinding`. */
  readonly name: string;
  /** As in `AgentInterface.protocolVersion`. */
  readonly version: string;
  /** The header that lists extensions, if it is not `A2A-Extensions`. */
  readonly extensionsHeader?: string;
}

/** Writes one stream. The stream keeps it, and nothing else of its call. */
export interface StreamEncoder {
  /**
   * One event, as the `data` of a server-sent event. `isLast`: the stream ends after it. Without `isLast`, the binding
   * derives it from the event.
   */
  event(event: SharedJson, isLast?: boolean): string;
  /** An error in a running stream, as the `data` of its last server-sent event. */
  error(error: A2AError): string;
}

/** The server half of a binding: HTTP in, operations out. It keeps no state between calls. Spec: §5. */
export interface ServerBinding extends Named {
  /** Whether this binding answers the request, be it with an error. */
  matches(request: HttpRequest): boolean;
  /** Reads the call. Throws an `A2AError` if the request carries none. */
  decodeCall(request: HttpRequest): ReceivedCall;
  encodeResult(call: ReceivedCall, result: unknown): HttpReply;
  /** Makes the encoder of the stream that answers a call. */
  encodeStream(call: ReceivedCall): StreamEncoder;
  /** A reply with an error, before the first event of a stream. `request` need not carry a call. */
  encodeError(error: A2AError, request: HttpRequest): HttpReply;
  /** The name of the server-sent event that carries an error; none by default. */
  readonly streamErrorEvent?: string;
}

/** The client half of a binding: operations in, HTTP out. It keeps no state between calls. Spec: §5. */
export interface ClientBinding extends Named {
  /** `baseUrl` is `AgentInterface.url`. Throws `INVALID_PARAMS` for params that the binding cannot carry. */
  encodeCall(call: Call, baseUrl: string): OutgoingRequest;
  /** The result in a reply that is not a stream. Throws the `A2AError` that it carries, or one made from its status. */
  decodeReply(call: Call, reply: IncomingReply): unknown;
  /** The event in the `data` of a server-sent event. Throws the `A2AError` that it carries. */
  decodeEvent(call: Call, data: string): unknown;
  /** Whether the `data` of a server-sent event says that the stream ends with it; by default it ends when it is closed. */
  isLastEvent?(data: string): boolean;
}

/** A value for many readers. Its JSON is made when the first reader needs it, and only once. */
export class SharedJson {
  readonly value: unknown;
  #text: string | undefined;

  constructor(value: unknown) {
    this.value = value;
  }

  /** The value as JSON, on one line. */
  get text(): string {
    this.#text ??= JSON.stringify(this.value);
    return this.#text;
  }
}
