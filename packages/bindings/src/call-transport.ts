import type { AgentCard, AgentInterface, StreamResponse } from '@batonjs/protocol';
import type { A2AError } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import type { Call, ClientBinding, ServerBinding, SharedJson } from './binding.ts';
import type { HttpRequest } from './http.ts';

/** The body of a delivery to a webhook, in one version of the protocol. */
export interface PushFormat {
  /** `Major.Minor`. Webhooks that a request of this version registered get this format. */
  readonly version: string;
  /** The `Content-Type` of the body. */
  readonly mediaType: string;
  encode(event: StreamResponse): string;
}

/** Another version of the protocol that a server speaks besides 1.0. */
export interface ServerCompatibility {
  /** In the order of the card. A card of the user that lists interfaces has only those. */
  readonly bindings: readonly ServerBinding[];
  readonly pushFormat: PushFormat;
  /** The version that a request without one is taken for. Undefined means 0.3. Never throws. Spec: §3.6.2. */
  impliedVersion(request: HttpRequest): string | undefined;
  /** The card for a request of this version, or without one. Undefined if the card needs no change. */
  encodeCard(card: AgentCard, version: string | undefined): object | undefined;
}

/** Another version of the protocol that a client speaks besides 1.0. */
export interface ClientCompatibility {
  readonly bindings: readonly ClientBinding[];
  /** A card of that version as a card of 1.0. Undefined for other JSON. */
  decodeCard(json: unknown): AgentCard | undefined;
  /** The body of a delivery to a webhook in that version, as an event of 1.0. Undefined for other JSON. */
  decodePush(json: unknown): StreamResponse | undefined;
}

// Bindings that carry calls over something else than single HTTP requests, such as gRPC.

/** A call that a server received without HTTP. */
export interface IncomingCall {
  readonly operation: OperationName;
  /** The name of the binding, as in the card: `GRPC`. */
  readonly binding: string;
  /** `Major.Minor` of the binding. A request that names another version in its headers is refused. */
  readonly version: string;
  /** The path that `authenticate` gets, as that of a POST. */
  readonly path: string;
  /** The metadata of the request: names in lower case, repeated values joined with a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The headers of the GET that opened the connection, if the connection carries several calls: `authenticate` gets them in
   * place of `headers`, so that a call cannot bring credentials of its own.
   */
  readonly opening?: Readonly<Record<string, string | undefined>>;
  /** The network address of the client, if it is known. */
  readonly remoteAddress?: string | undefined;
  /** Aborted when the client has disconnected, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** The position to resume a stream after; the metadata `last-event-id` if undefined. Empty: begin with the task. */
  readonly lastEventId?: string | undefined;
  /** Reads the request object, which is not validated yet. Called once the caller is known. */
  readonly readParams: () => Readonly<Record<string, unknown>>;
}

/** The answer to a call: one result, or a stream of events. */
export type CallAnswer = {
  /** URIs of the extensions that are active. */
  readonly extensions: readonly string[];
} & ({ readonly result: unknown } | { readonly events: CallEvents });

/** One event of a stream with the position that a client may resume after. */
export interface CallEvent {
  readonly id: string;
  /** A `StreamResponse`. The same object for all followers of a task. */
  readonly event: SharedJson;
  /** Whether the stream ends after it. */
  readonly isLast?: boolean;
}

/** The events of a stream, read batch by batch: a reader that does not call `next()` holds up no other. */
export interface CallEvents {
  /**
   * Resolves to the next events, at least one, or to undefined when the stream is over. Rejects with an `A2AError`. Call
   * it only when the call before has settled.
   */
  next(): Promise<{ readonly events: readonly CallEvent[] } | undefined>;
  /** Ends the stream. A pending `next()` resolves to undefined. May be called again. */
  close(): void;
}

/** Answers a call with the checks of every binding. Rejects with an `A2AError` that the client may see. */
export type AnswerCall = (call: IncomingCall) => Promise<CallAnswer>;

/** The parts of a server that such a binding calls. An `AgentServer` of `@batonjs/server` is one. */
export interface CallTarget {
  readonly answerCall: AnswerCall;
  /** Lists an interface in the server's cards until the returned function is called. */
  addInterface(entry: AgentInterface): () => void;
  /**
   * Resolves to the scope of the caller who opens a connection with a GET; undefined if the server asks for no caller.
   * Rejects with the `A2AError` that refuses the caller.
   */
  checkCaller(head: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
  }): Promise<string | undefined>;
  /** Aborted when the server begins to close. It ends its streams itself. */
  readonly closing: AbortSignal;
  readonly limits: { readonly bodyBytes: number; readonly jsonDepth: number; readonly jsonValues: number };
  /** Whether the server accepts requests and its store takes writes. */
  ready(): Promise<boolean>;
}

/** The request around a call that a client makes. */
export interface TransportRequest {
  /** `AgentInterface.url`. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the call. */
  readonly signal: AbortSignal;
  /** The most bytes of the result, or of one event. */
  readonly maxBytes: number;
  /** Called when the agent answers with a stream. */
  readonly onOpen?: () => void;
}

/** The client half of a binding that carries calls itself. */
export interface ClientTransport {
  /** As in `AgentInterface.protocolBinding`. */
  readonly name: string;
  /** As in `AgentInterface.protocolVersion`. */
  readonly version: string;
  /** Whether a `protocolBinding` that differs from `name` means this binding too. */
  isAlias?(protocolBinding: string): boolean;
  /** Whether results and events may have `null` members, as the JSON of some agents has. */
  readonly mayHaveNulls?: boolean;
  /** The `http:` or `https:` URL whose origin stands for an interface's address; undefined if it cannot be used. */
  urlOf(address: string): string | undefined;
  /**
   * Resolves to the result. Rejects with the agent's `A2AError`, with a `RangeError` for an answer of more than
   * `maxBytes`, and with any other error if the agent is out of reach.
   */
  call(call: Call, request: TransportRequest): Promise<unknown>;
  /** The events with their positions. Rejects like `call`. Leaving the loop ends the call. */
  stream(
    call: Call,
    request: TransportRequest,
  ): AsyncIterable<{ readonly id?: string | undefined; readonly event: unknown }>;
}

/** The messages and the service of a version besides 1.0 in protocol buffers, and how they translate to the objects of 1.0. Pure data and functions. */
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
  /** How the text of a status says an error, if it is more than the message. */
  readonly errors?: {
    write(error: A2AError): string;
    /** Undefined for text that names no error. */
    read(text: string): Pick<A2AError, 'reason' | 'message'> | undefined;
  };
}

/** What a server knows of the client that calls. */
export interface ProtobufPeer {
  /** Its `user-agent`. */
  readonly userAgent?: string | undefined;
}

/** One method of such a service. Messages are in their JSON form. */
export interface ProtobufMethod {
  readonly operation: OperationName;
  readonly name: string;
  /** The name of a message of the table, or `Empty`. */
  readonly request: string;
  readonly response: string;
  /** The params of 1.0 in a request. Throws an `A2AError` for a request that has none. */
  readParams(
    request: Readonly<Record<string, unknown>>,
    peer?: ProtobufPeer,
  ): Readonly<Record<string, unknown>>;
  /** The request with params of 1.0. Throws an `A2AError` for params that the version cannot say. */
  writeParams(params: Readonly<Record<string, unknown>>): unknown;
  /** The result of 1.0, or the event of a stream, in a response. Throws an `A2AError` for a response that makes no sense. */
  readResult(response: Readonly<Record<string, unknown>>): unknown;
  /** The response with a result of 1.0, or with an event. `isLast`, of events: nothing follows in this stream. */
  writeResult(result: unknown, isLast?: boolean, peer?: ProtobufPeer): unknown;
  /** The position that a `SubscribeToTask` without one starts at, as in `IncomingCall`. */
  readonly impliedPosition?: string;
}
