import type { Call, ClientBinding, ClientTransport, IncomingReply, OutgoingRequest } from '@batonjs/bindings';
import { decodeSse } from '@batonjs/bindings/sse';
import type { AgentCard, StreamResponse } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_JSON, IDEMPOTENCY, JSON_TYPE } from '@batonjs/protocol/headers';
import { type Operation, type OperationName, operations } from '@batonjs/protocol/operations';
import type { CallOptions, Settings } from '../options/connect-options.ts';
import { checkEvent, checkResult } from '../replies/check-reply.ts';
import { withoutNulls } from '../replies/without-nulls.ts';
import { type CallDeadline, discard, limitEvents, readReply, startDeadline } from './call-deadline.ts';
import { checkNumbers } from './check-numbers.ts';
import { callStart, exchange, type InSpan, type Replied, tracedCall } from './exchange.ts';
import { neededExtensions } from './needed-extensions.ts';
import { isEventStream, isUnrouted, namesAnError, nullFree } from './reply-kind.ts';
import { type Candidate, candidatesOf, noInterface, startRetries } from './retries.ts';
import { callOnce, type PreparedCall, streamCall } from './transport-call.ts';

/** One event of a stream with its position, if the server sends positions. A stream can continue after a position. */
export interface PositionedEvent {
  readonly id?: string | undefined;
  readonly event: StreamResponse;
}

/** Options of a call that is answered by a stream. */
export interface StreamOptions extends CallOptions {
  readonly lastEventId?: string | undefined;
  /** Called when the agent answers with a stream. */
  readonly onOpen?: () => void;
}

type AnyParams = Readonly<Record<string, unknown>>;

/** A call under way. */
interface Asked {
  readonly operation: OperationName;
  readonly params: AnyParams;
  readonly options: StreamOptions & InSpan;
  readonly deadline: CallDeadline;
}

/** Asks once, on the interface in use. */
type Connect<Reply> = (this: Session, asked: Asked) => AsyncGenerator<Reply, void, void>;

/** The connection to one agent: its card, the interface in use, and the calls to it. */
export class Session {
  readonly settings: Settings;
  card!: AgentCard;
  candidates!: readonly Candidate[];
  /** Index of the interface in use. */
  current = 0;
  /** Origins that refused `application/a2a+json` with 415 and accept `application/json`. */
  readonly #plainOrigins = new Set<string>();
  /** Retries that all calls still have, in tenths: each success adds one tenth. */
  budget: number;

  constructor(card: AgentCard, settings: Settings) {
    this.settings = settings;
    this.budget = settings.retry.budget * 10;
    this.use(card);
    if (!this.candidates) throw noInterface(card);
  }

  /** Replaces the card. Keeps the interface in use if the new card lists it too or lists no usable one. */
  use(card: AgentCard): void {
    const { url, codec } = this.candidates?.[this.current] ?? {};
    const candidates = candidatesOf(card, this.settings);
    this.card = this.settings.card = card;
    if (candidates.length === 0) return;
    this.candidates = candidates;
    this.current = Math.max(
      0,
      this.candidates.findIndex((other) => other.url === url && other.codec === codec),
    );
  }

  /** The URL of the interface in use. */
  get address(): string {
    return this.candidates[this.current]!.address;
  }

  /** The version of the protocol that the interface in use speaks. */
  get version(): string {
    return this.candidates[this.current]!.codec.version;
  }

  offers(extension: string): boolean {
    return Boolean(this.card.capabilities?.extensions?.some(({ uri }) => uri === extension));
  }

  /** Throws the agent's own error for an operation that its card does not offer. Spec: §3.3.4. */
  check(operation: OperationName): void {
    const { capability }: Operation = operations[operation];
    if (!capability || !this.settings.checkCapabilities || this.card.capabilities?.[capability]) return;
    throw new A2AError(
      capability === 'pushNotifications' ? 'PUSH_NOTIFICATION_NOT_SUPPORTED' : 'UNSUPPORTED_OPERATION',
      `The agent's card does not offer ${capability}`,
    );
  }

  /** Makes a call with a single reply. */
  async call(operation: OperationName, params: AnyParams, options: CallOptions = {}): Promise<unknown> {
    for await (const { event } of this.#inSpan(operation, params, options, this.#replies)) return event;
  }

  /** Makes a call that is answered by a stream. Retries it until the first event. Leaving the loop closes the connection. */
  stream(
    operation: OperationName,
    params: AnyParams,
    options: StreamOptions = {},
  ): AsyncGenerator<PositionedEvent, void, void> {
    return this.#inSpan(operation, params, options, this.#connect);
  }

  /** Makes a call in a span, if there is one. */
  #inSpan<Reply extends Replied>(
    operation: OperationName,
    params: AnyParams,
    options: StreamOptions,
    connect: Connect<Reply>,
  ): AsyncGenerator<Reply, void, void> {
    const { telemetry } = this.settings;
    const attempts = (span?: InSpan['span']) =>
      this.#attempts(operation, params, { ...options, span }, connect);
    return telemetry
      ? tracedCall(telemetry, callStart(this, operation, params, options.lastEventId), attempts)
      : attempts();
  }

  async *#attempts<Reply extends Replied>(
    operation: OperationName,
    params: AnyParams,
    options: StreamOptions & InSpan,
    connect: Connect<Reply>,
  ): AsyncGenerator<Reply, void, void> {
    this.check(operation);
    checkNumbers(params);
    const deadline = startDeadline(options, this.settings, this.address);
    const retries = startRetries(this, operation, params, options, deadline.signal);
    try {
      for (let started = false; ; ) {
        try {
          for await (const reply of connect.call(this, { operation, params, options, deadline })) {
            started = true;
            yield reply;
          }
          return;
        } catch (error) {
          if (started) throw error;
          const failure = deadline.classify(error);
          await retries.after(failure);
          options.span?.retried(failure);
        }
      }
    } catch (error) {
      throw deadline.classify(error);
    } finally {
      deadline.close();
    }
  }

  /** The one reply of a connection. */
  async *#replies(asked: Asked): AsyncGenerator<Replied, void, void> {
    const result = await this.#reply(asked);
    this.budget = Math.min(this.settings.retry.budget * 10, this.budget + 1);
    yield { event: checkResult(asked.operation, result) };
  }

  /** The events of one connection. */
  async *#connect(asked: Asked): AsyncGenerator<PositionedEvent, void, void> {
    const { options, deadline } = asked;
    const transport = this.#transport;
    if (transport) {
      const request = this.#prepare(asked, this.settings.maxEventBytes);
      const onOpen = () => {
        deadline.lift();
        options.onOpen?.();
      };
      for await (const { id, event } of streamCall(transport, { ...request, onOpen }))
        yield { id, event: checkEvent(transport.mayHaveNulls ? withoutNulls(event) : event) };
      return;
    }
    const { call, codec, response } = await this.#send(asked);
    if (!response.ok || !isEventStream(response)) {
      // An error before the first event is an ordinary reply. Some agents also answer a stream with one complete reply.
      const result = this.#decode(codec, call, await this.#readReply(response));
      yield { event: checkResult('SendMessage', result) as StreamResponse };
      return;
    }
    if (!response.body) return;
    options.onOpen?.();
    // Also removes the deadline of the call, which applies until the stream has started.
    const restartIdleLimit = () => deadline.limit(options.idleTimeoutMs, 'NETWORK', 'No data');
    const body = limitEvents(response.body, deadline.signal, this.settings.maxEventBytes, restartIdleLimit);
    restartIdleLimit();
    for await (const { data, id } of decodeSse(body.chunks)) {
      body.endEvent(data);
      yield { id, event: checkEvent(nullFree(data, codec.decodeEvent(call, data))) };
      if (codec.isLastEvent?.(data)) return;
    }
    // Some `fetch` implementations end an aborted body as if it were complete.
    deadline.signal.throwIfAborted();
  }

  /** The interface in use, if its binding carries calls itself. */
  get #transport(): ClientTransport | undefined {
    const { codec } = this.candidates[this.current]!;
    return 'urlOf' in codec ? codec : undefined;
  }

  async #reply(asked: Asked): Promise<unknown> {
    const transport = this.#transport;
    if (transport) {
      const result = await callOnce(transport, this.#prepare(asked, this.settings.maxResponseBytes));
      return transport.mayHaveNulls ? withoutNulls(result) : result;
    }
    const { call, codec, response } = await this.#send(asked);
    return this.#decode(codec, call, await this.#readReply(response));
  }

  /** What a call is sent with on the interface in use. */
  #prepare({ operation, params: given, options, deadline }: Asked, maxBytes: number): PreparedCall {
    const { url, address, tenant } = this.candidates[this.current]!;
    deadline.address = address;
    const call: Call = { operation, params: tenant ? { ...given, tenant } : given };
    const named = [...(options.extensions ?? []), ...neededExtensions(given, this)];
    const known = [...this.settings.extensions, ...named];
    const extensions = [...new Set(this.offers(IDEMPOTENCY) ? [...known, IDEMPOTENCY] : known)];
    const { settings } = this;
    return { call, url, address, options, extensions, settings, signal: deadline.signal, maxBytes };
  }

  async #send(asked: Asked) {
    const codec = this.candidates[this.current]!.codec as ClientBinding;
    const { call, url, ...prepared } = this.#prepare(asked, 0);
    const { alternative, ...request } = codec.encodeCall(call, url);
    const { version, extensionsHeader } = codec;
    const context = { ...asked.options, ...prepared, version, extensionsHeader };
    const ask = (attempt: OutgoingRequest) => this.#exchange(attempt, context);
    const response = await ask(request);
    if (!alternative || !isUnrouted(response.status)) return { call, codec, response };
    const reply = await this.#readReply(response);
    const first = new Response(reply.body, response);
    if (namesAnError(() => codec.decodeReply(call, reply))) return { call, codec, response: first };
    const second = await ask(alternative);
    return { call, codec, response: isUnrouted(second.status) ? first : second };
  }

  /** Sends a request, as `application/json` if the agent refuses `application/a2a+json`. Spec: §11.1. */
  async #exchange(request: OutgoingRequest, context: Parameters<typeof exchange>[1]) {
    if (request.headers['content-type'] !== A2A_JSON) return exchange(request, context);
    const plain = { ...request, headers: { ...request.headers, 'content-type': JSON_TYPE } };
    const { origin } = new URL(request.url);
    if (this.#plainOrigins.has(origin)) return exchange(plain, context);
    const response = await exchange(request, context);
    if (response.status !== 415) return response;
    discard(response);
    const second = await exchange(plain, context);
    if (second.status !== 415) this.#plainOrigins.add(origin);
    return second;
  }

  #decode(codec: ClientBinding, call: Call, reply: IncomingReply): unknown {
    return nullFree(reply.body, codec.decodeReply(call, reply));
  }

  #readReply(response: Response) {
    return readReply(response, this.settings.maxResponseBytes, this.address);
  }
}
