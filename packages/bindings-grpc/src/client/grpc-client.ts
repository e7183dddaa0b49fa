import type { Call, ClientTransport, TransportRequest } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { fromServiceError, toParamsError } from '../errors/wire-error.ts';
import { a2aMethods, type Method } from '../wire/a2a-service.ts';
import { decodeMessage } from '../wire/decode-message.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import { takePosition } from '../wire/event-position.ts';
import { targetOf } from './target.ts';

/** What `grpcClient` takes. */
export interface GrpcClientOptions {
  /** Allows plaintext to other hosts than loopback. Default false: they need TLS. */
  readonly plaintext?: boolean;
  /** Certificates in PEM: `ca` of servers, instead of those of Node.js; `cert` and `key` of this client, for mutual TLS. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Options of grpc-js, over those of this client. */
  readonly channelOptions?: ChannelOptions;
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
  const { plaintext = false, tls, channelOptions } = options;
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

  return {
    name: 'GRPC',
    version: PROTOCOL_VERSION,

    urlOf(address) {
      const target = targetOf(address, plaintext);
      return target && `${target.isSecure ? 'https' : 'http'}://${target.host}`;
    },

    call(call, request) {
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
            if (error) return reject(signal.aborted ? signal.reason : fromServiceError(error, maxBytes));
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
        throw isServiceError(error) ? fromServiceError(error, maxBytes) : error;
      } finally {
        signal.removeEventListener('abort', cancel);
        stream.cancel();
      }
    },
  };
}

const asTheyAre = (bytes: Buffer): Buffer => bytes;

const methods = new Map(a2aMethods.map((method) => [method.operation, method]));

function prepare({ operation, params }: Call, { headers }: TransportRequest) {
  const method = methods.get(operation)!;
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  try {
    return { method, metadata, bytes: Buffer.from(encodeMessage(method.request, params)) };
  } catch (problem) {
    throw toParamsError(problem);
  }
}

function read({ response }: Method, bytes: Buffer): Record<string, unknown> {
  try {
    return decodeMessage(response, bytes);
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof (error as Partial<ServiceError>).code === 'number';

function secure({ ca, cert, key }: NonNullable<GrpcClientOptions['tls']> = {}): ChannelCredentials {
  const buffer = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(buffer(ca), buffer(key), buffer(cert));
}
