import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  credentials,
  Metadata,
} from '@grpc/grpc-js';
import { decode, encode, type MessageType } from '../wire/codec.ts';
import { authenticateRequest, authenticateResponse } from '../wire/messages.ts';
import { addressesOf } from './address.ts';
import { isTokenExpired } from './etcd-error.ts';

/** Certificates in PEM: `ca` of the members, `cert` and `key` of this client. */
export interface EtcdTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** A method of etcd's API. */
export interface Method {
  readonly path: string;
  readonly request: MessageType;
  readonly response: MessageType;
}

const authenticate: Method = {
  path: '/etcdserverpb.Auth/Authenticate',
  request: authenticateRequest,
  response: authenticateResponse,
};

const channelOptions: ClientOptions = {
  // Calls are repeated here, where it is known what they do.
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 50,
  'grpc.max_reconnect_backoff_ms': 500,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  // A member ends connections that ping it more often than every five seconds.
  'grpc.keepalive_time_ms': 6_000,
  'grpc.keepalive_timeout_ms': 3_000,
};

/** One connection to each member. Calls go to one of them until it fails, and then to the next. */
export class Connections {
  readonly name: string;
  readonly #clients: readonly Client[];
  readonly #user: { readonly name: string; readonly password: string } | undefined;
  readonly #leaving = new Set<(member: number) => void>();
  #token: Promise<string> | undefined;
  #current = 0;

  constructor(urls: readonly string[], tls: EtcdTls | undefined) {
    const { hosts, isSecure, user, password = '' } = addressesOf(urls);
    this.name = `etcd at ${hosts.join(', ')}`;
    this.#user = user === undefined ? undefined : { name: user, password };
    this.#clients = hosts.map((host) => new Client(host, credentialsOf(isSecure, tls), channelOptions));
    // The processes of an agent do not all begin with the same member.
    this.#current = Math.floor(Math.random() * hosts.length);
  }

  /** The member that calls go to now. */
  get current(): number {
    return this.#current;
  }

  /** Sends one call to a member. Waits for at most so many milliseconds. Rejects with what gRPC says. */
  async call(member: number, method: Method, request: object, timeoutMs: number): Promise<unknown> {
    if (!this.#user) return this.#send(member, method, request, timeoutMs);
    try {
      return await this.#send(member, method, request, timeoutMs, await this.metadata(member, timeoutMs));
    } catch (error) {
      if (!isTokenExpired(error)) throw error;
      this.forgetToken();
      return this.#send(member, method, request, timeoutMs, await this.metadata(member, timeoutMs));
    }
  }

  /** Opens a stream of messages in both directions. */
  stream<Request, Response>(
    member: number,
    { path, request, response }: Method,
    metadata: Metadata,
  ): ClientDuplexStream<Request, Response> {
    return this.#clients[member]!.makeBidiStreamRequest(
      path,
      (message: Request) => encode(request, message as object),
      (bytes: Buffer) => decode(response, bytes) as Response,
      metadata,
    );
  }

  /** What calls carry: the token of the user, if the URL names one. */
  async metadata(member: number, timeoutMs: number): Promise<Metadata> {
    const metadata = new Metadata();
    if (!this.#user) return metadata;
    this.#token ??= this.#send(member, authenticate, this.#user, timeoutMs).then(
      (answer) => String((answer as { token: Buffer }).token),
      (error: unknown) => {
        this.#token = undefined;
        throw error;
      },
    );
    metadata.set('token', await this.#token);
    return metadata;
  }

  /** The next call logs in again. Returns `false` if there is no user to log in. */
  forgetToken(): boolean {
    this.#token = undefined;
    return this.#user !== undefined;
  }

  /** The member failed: the next calls go to another one. */
  leave(member: number): void {
    if (this.#current === member) this.#current = (member + 1) % this.#clients.length;
    for (const leave of this.#leaving) leave(member);
  }

  /** Calls `leave` with each member that fails. */
  onLeave(leave: (member: number) => void): void {
    this.#leaving.add(leave);
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  #send(
    member: number,
    { path, request, response }: Method,
    message: object,
    timeoutMs: number,
    metadata = new Metadata(),
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#clients[member]!.makeUnaryRequest(
        path,
        (value: object) => encode(request, value),
        (bytes: Buffer) => decode(response, bytes),
        message,
        metadata,
        { deadline: Date.now() + timeoutMs },
        (error, answer) => (error ? reject(error) : resolve(answer)),
      );
    });
  }
}

function credentialsOf(isSecure: boolean, { ca, cert, key }: EtcdTls = {}): ChannelCredentials {
  if (!isSecure) return credentials.createInsecure();
  const buffer = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(buffer(ca), buffer(key), buffer(cert));
}
