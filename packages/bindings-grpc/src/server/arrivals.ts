import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import {
  type Metadata,
  ResponderBuilder,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';

/** Limits of requests on their way. */
export interface ArrivalLimits {
  /** Bytes that the requests of one connection may hold until their callers are known. */
  readonly connectionBytes: number;
  /** How long a request may take to arrive, in milliseconds. */
  readonly requestMs: number;
}

/** How often requests are looked at that take too long, in milliseconds. */
const lookMs = 1_000;

/** Watches over the requests of all connections of a listener: grpc-js holds their messages without a bound. */
export function arrivalsOf(limits: ArrivalLimits) {
  const open = new Set<Arrival>();
  const connections = new WeakMap<ServerHttp2Session, Connection>();
  const intercept: ServerInterceptor = (_method, call) => {
    const arrival = watch(call);
    if (!arrival) return new ServerInterceptingCall(call);
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        Reflect.set(metadata, arrivalOf, arrival);
        next(metadata);
      })
      .build();
    return new ServerInterceptingCall(
      call,
      new ResponderBuilder().withStart((next) => next(listener)).build(),
    );
  };
  const looks = setInterval(() => look(), Math.min(lookMs, limits.requestMs)).unref();

  function watch(call: ServerInterceptingCallInterface): Arrival | undefined {
    // grpc-js shows a message only when it has arrived.
    const stream: ServerHttp2Stream | undefined = Reflect.get(call, 'stream');
    const session = stream?.session as ServerHttp2Session | undefined;
    if (!stream || !session) return undefined;
    const connection = connections.get(session) ?? { bytes: 0 };
    connections.set(session, connection);
    const arrival = new Arrival(call, stream, connection);
    open.add(arrival);
    stream.on('data', (chunk: Buffer) => {
      if (!arrival.hold(chunk.length, limits.connectionBytes))
        arrival.refuse(status.RESOURCE_EXHAUSTED, 'Too many unfinished requests on this connection');
    });
    stream.on('end', () => open.delete(arrival));
    stream.on('close', () => {
      open.delete(arrival);
      arrival.release();
    });
    return arrival;
  }

  function look(): void {
    const { requestMs } = limits;
    const now = performance.now();
    for (const arrival of open) {
      // In the order of their beginning.
      if (now - arrival.startedAt < requestMs) return;
      open.delete(arrival);
      arrival.refuse(status.DEADLINE_EXCEEDED, `The request took longer than ${requestMs} ms to arrive`);
    }
  }

  return {
    /** Looks no more at requests that take too long. */
    close: (): void => void clearInterval(looks),
    intercept,
  };
}

/** The caller of a request is known: its message does not count among the unfinished ones of its connection any more. */
export function isArrived(metadata: Metadata): void {
  const arrival: Arrival | undefined = Reflect.get(metadata, arrivalOf);
  arrival?.release();
}

/** Where the metadata of a call has its arrival: of a `WeakMap`, collections took a twentieth of the CPU of a call. */
const arrivalOf = Symbol('arrival');

interface Connection {
  bytes: number;
}

/** A request on its way. */
class Arrival {
  readonly startedAt = performance.now();
  readonly #call: ServerInterceptingCallInterface;
  readonly #stream: ServerHttp2Stream;
  readonly #connection: Connection;
  #bytes = 0;
  #isReleased = false;

  constructor(call: ServerInterceptingCallInterface, stream: ServerHttp2Stream, connection: Connection) {
    this.#call = call;
    this.#stream = stream;
    this.#connection = connection;
  }

  /** Counts more bytes. False if the connection holds more than `most` of them. */
  hold(bytes: number, most: number): boolean {
    if (this.#isReleased) return true;
    this.#bytes += bytes;
    this.#connection.bytes += bytes;
    return this.#connection.bytes <= most;
  }

  release(): void {
    this.#isReleased = true;
    this.#connection.bytes -= this.#bytes;
    this.#bytes = 0;
  }

  refuse(code: status, details: string): void {
    this.release();
    this.#call.sendStatus({ code, details });
    // What has arrived would be held as long as the client keeps its half open.
    this.#stream.close();
  }
}
