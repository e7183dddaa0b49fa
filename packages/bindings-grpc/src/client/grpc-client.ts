import type { Call, ClientTransport, ProtobufVersion, TransportRequest } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { isLoopback } from '@batonjs/protocol/headers';
import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { fromServiceError, toParamsError } from '../errors/wire-error.ts';
import { mustBeUsable } from '../usable-tls.ts';
import { a2aService, type Method, serviceOf } from '../wire/a2a-service.ts';
import { decodeMessage } from '../wire/decode-message.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import { takePosition } from '../wire/event-position.ts';

/** What `grpcClient` takes. */
export interface GrpcClientOptions {
  /** Allows plaintext to other hosts than loopback. Default false: they need TLS. */
  readonly plaintext?: boolean | undefined;
  /**
   * Certificates in PEM: `ca` of servers, instead of those of Node.js; `cert` and `key` of this client, for mutual TLS.
   * With `rejectUnauthorized: false`, certificates of servers are not verified.
   */
  readonly tls?:
    | {
        readonly ca?: string;
        readonly cert?: string;
        readonly key?: string;
        readonly rejectUnauthorized?: boolean;
      }
    | undefined;
  /** The version to speak, instead of 1.0: `v03Grpc()` of `@batonjs/bindings-v0-3`. */
  readonly version?: ProtobufVersion | undefined;
  /** Options of grpc-js, over those of this client. */
  readonly channelOptions?: ChannelOptions | undefined;
}

const defaultOptions: ChannelOptions = {
  // The client retries calls itself, and after a restart of the server it is back within a second.
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // In place of `idleTimeoutMs`: a connection that answers no ping is broken.
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
};

/**
 * The gRPC binding of a client: `connect(url, { bindings: [grpcClient()] })`. Connections are shared by all clients that
 * it is given to, and keep no process alive. Spec: §10.
 */
export function grpcClient(options: GrpcClientOptions = {}): ClientTransport {
  const { plaintext = false, tls, version, channelOptions } = options;
  if (tls) mustBeUsable(tls);
  const service = version ? serviceOf(version) : a2aService;
  const methods = new Map(service.methods.map((method) => [method.operation, method]));
  const channels = new Map<string, Client>();

  function channelTo({ url, maxBytes }: TransportRequest): Client {
    const { host, isSecure } = targetOf(url, plaintext)!;
    const key = `${isSecure} ${maxBytes} ${host}`;
    const open = channels.get(key);
    if (open) return open;
    const channel = new Client(host, isSecure ? secure(tls) : credentials.createInsecure(), {
      ...defaultOptions,
      'grpc.max_receive_message_length': maxBytes,
      ...channelOptions,
    });
    channels.set(key, channel);
    return channel;
  }

  function prepare(call: Call, request: TransportRequest) {
    const method = methods.get(call.operation);
    if (!method)
      throw new A2AError('UNSUPPORTED_OPERATION', `A2A ${service.version} has no ${call.operation}`);
    return { method, metadata: metadataOf(request), bytes: write(method, call) };
  }

  return {
    name: 'GRPC',
    version: service.version,

    urlOf(address) {
      const target = targetOf(address, plaintext);
      return target && `${target.isSecure ? 'https' : 'http'}://${target.host}`;
    },

    async call(call, request) {
      const { signal, maxBytes } = request;
      const { method, bytes, metadata } = prepare(call, request);
      return new Promise((resolve, reject) => {
        const cancel = () => ongoing.cancel();
        const ongoing = channelTo(request).makeUnaryRequest(
          method.path,
          asTheyAre,
          asTheyAre,
          bytes,
          metadata,
          (error, value) => {
            signal.removeEventListener('abort', cancel);
            if (error)
              return reject(
                signal.aborted ? signal.reason : fromServiceError(error, maxBytes, method.errors),
              );
            try {
              resolve(read(method, value!));
            } catch (unreadable) {
              reject(unreadable);
            }
          },
        );
        signal.addEventListener('abort', cancel);
      });
    },

    async *stream(call, request) {
      const { signal, maxBytes, onOpen } = request;
      const { method, bytes, metadata } = prepare(call, request);
      const stream = channelTo(request).makeServerStreamRequest(
        method.path,
        asTheyAre,
        asTheyAre,
        bytes,
        metadata,
      );
      const cancel = () => stream.cancel();
      signal.addEventListener('abort', cancel);
      // A call that is canceled ends with an error that no reader waits for.
      stream.on('error', () => {});
      if (onOpen) stream.on('metadata', onOpen);
      try {
        for await (const event of stream) yield takePosition(read(method, event as Buffer));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw isServiceError(error) ? fromServiceError(error, maxBytes, method.errors) : error;
      } finally {
        signal.removeEventListener('abort', cancel);
        stream.cancel();
      }
    },
  };
}

const asTheyAre = (bytes: Buffer): Buffer => bytes;

function write({ request, translation }: Method, { params }: Call): Buffer {
  try {
    return Buffer.from(encodeMessage(request, translation ? translation.writeParams(params) : params));
  } catch (problem) {
    throw toParamsError(problem);
  }
}

function metadataOf({ headers }: TransportRequest): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

function read({ response, translation }: Method, bytes: Buffer): Record<string, unknown> {
  try {
    const result = decodeMessage(response, bytes);
    return translation ? (translation.readResult(result) as Record<string, unknown>) : result;
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';

function secure(tls: NonNullable<GrpcClientOptions['tls']> = {}): ChannelCredentials {
  const { ca, cert, key, rejectUnauthorized = true } = tls;
  const buffer = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(buffer(ca), buffer(key), buffer(cert), { rejectUnauthorized });
}

/** Where a channel leads. */
export interface Target {
  /** `host:port`, as grpc-js takes it. */
  readonly host: string;
  readonly isSecure: boolean;
}

const pattern = /^(?:(grpcs?|https?):\/\/)?((?:\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?)\/?$/i;

/**
 * The target that an address of a card names: `host:port`, or a URL of the schemes `grpc`, `http` (plaintext), `grpcs`
 * and `https` (TLS). Without a scheme, loopback means plaintext, and any other host TLS. Undefined for other addresses,
 * and for plaintext on other hosts unless `plaintext` allows it.
 */
export function targetOf(address: string, plaintext: boolean): Target | undefined {
  const [, scheme, host] = pattern.exec(address) ?? [];
  if (!host) return undefined;
  const mayBePlain = plaintext || isLoopback(withoutPort(host));
  const isSecure = scheme ? /s$/i.test(scheme) : !mayBePlain;
  return isSecure || mayBePlain ? { host, isSecure } : undefined;
}

/** The colons of an IPv6 address stand in brackets. */
function withoutPort(host: string): string {
  const colon = host.lastIndexOf(':');
  return colon > host.lastIndexOf(']') ? host.slice(0, colon) : host;
}
