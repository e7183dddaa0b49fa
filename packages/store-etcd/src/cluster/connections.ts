import { StoreError } from '@batonjs/store';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  credentials,
  Metadata,
  status,
} from '@grpc/grpc-js';
import { type Method, methods } from '../wire/messages.ts';

/** Certificates in PEM: `ca` of the members, `cert` and `key` of this client. */
export interface EtcdTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

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

/** The connection to a member of the cluster. */
export type Member = Client;

export type Connections = ReturnType<typeof connectionsTo>;

/** One connection to each member. Calls go to one of them until it fails, and then to the next. */
export function connectionsTo(urls: readonly string[], tls: EtcdTls | undefined) {
  const { hosts, isSecure, user, password } = addressesOf(urls);
  const members: readonly Member[] = hosts.map(
    (host) => new Client(host, credentialsOf(isSecure, tls), channelOptions),
  );
  const leaving = new Set<(member: Member) => void>();
  let token: Promise<string> | undefined;
  // The processes of an agent do not all begin with the same member.
  let at = Math.floor(Math.random() * hosts.length);

  /** What calls carry: the token of the user, if the URL names one. */
  async function metadataFor(member: Member, timeoutMs: number): Promise<Metadata> {
    const metadata = new Metadata();
    if (user === undefined) return metadata;
    token ??= sendTo(member, methods.authenticate, { name: user, password }, timeoutMs).then(
      ({ token }) => String(token),
      (error: unknown) => {
        token = undefined;
        throw error;
      },
    );
    metadata.set('token', await token);
    return metadata;
  }

  /** The next call logs in again. Returns `false` if there is no user to log in. */
  function forgetToken(): boolean {
    token = undefined;
    return user !== undefined;
  }

  return {
    name: `etcd at ${hosts.join(', ')}`,
    /** The member that calls go to now. */
    get current(): Member {
      return members[at]!;
    },
    /** Sends one call to a member. Waits for at most so many milliseconds. Rejects with what gRPC says. */
    async call<Request, Response>(
      member: Member,
      method: Method<Request, Response>,
      request: Request,
      timeoutMs: number,
    ): Promise<Response> {
      const send = async () =>
        sendTo(member, method, request, timeoutMs, await metadataFor(member, timeoutMs));
      try {
        return await send();
      } catch (error) {
        if (!isTokenExpired(error) || !forgetToken()) throw error;
        return send();
      }
    },
    /** Opens a stream of messages in both directions, which ends if the member is cut off from the leader. */
    async stream<Request, Response>(
      member: Member,
      { path, request, response }: Method<Request, Response>,
      timeoutMs: number,
    ): Promise<ClientDuplexStream<Request, Response>> {
      const metadata = await metadataFor(member, timeoutMs);
      metadata.set('hasleader', 'true');
      return member.makeBidiStreamRequest(
        path,
        (message: Request) => request.encode(message),
        (bytes: Buffer) => response.decode(bytes),
        metadata,
      );
    },
    forgetToken,
    /** The member failed: the next calls go to another one. */
    leave(member: Member): void {
      if (members[at] === member) at = (at + 1) % members.length;
      for (const leave of leaving) leave(member);
    },
    /** Calls `leave` with each member that fails. */
    onLeave: (leave: (member: Member) => void): void => void leaving.add(leave),
    close(): void {
      for (const member of members) member.close();
    },
  };
}

const sendTo = <Request, Response>(
  member: Member,
  { path, request, response }: Method<Request, Response>,
  message: Request,
  timeoutMs: number,
  metadata = new Metadata(),
): Promise<Response> =>
  new Promise((resolve, reject) => {
    member.makeUnaryRequest(
      path,
      (value: Request) => request.encode(value),
      (bytes: Buffer) => response.decode(bytes),
      message,
      metadata,
      { deadline: Date.now() + timeoutMs },
      (error, answer) => (answer === undefined ? reject(error) : resolve(answer)),
    );
  });

function credentialsOf(isSecure: boolean, { ca, cert, key }: EtcdTls = {}): ChannelCredentials {
  if (!isSecure) return credentials.createInsecure();
  const buffer = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  try {
    return credentials.createSsl(buffer(ca), buffer(key), buffer(cert));
  } catch (error) {
    // OpenSSL names the fault, and nothing of the key.
    throw new TypeError(
      `\`tls\` has a certificate or a key that cannot be used: ${(error as Error).message}`,
    );
  }
}

/** Codes after which another member, or the same one a moment later, may answer. */
const passing: readonly unknown[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.UNKNOWN,
  status.INTERNAL,
];

/** What an error of gRPC has. */
const codeOf = (error: unknown): unknown => Object(error).code;
const detailsOf = (error: unknown): string => String(Object(error).details || error);

/** Whether the call may succeed when it is repeated. It may have been executed. */
export const isPassing = (error: unknown): boolean =>
  passing.includes(codeOf(error)) || /too many requests/.test(detailsOf(error));

/** Whether the user has to log in again: tokens expire, and do not outlive a change of the user. */
const isTokenExpired = (error: unknown): boolean =>
  /invalid auth token|revision of auth store is old/.test(detailsOf(error));

/** Whether a key was to be written under a lease that is over. Nothing was executed. */
export const isLeaseGone = (error: unknown): boolean => /lease not found/.test(detailsOf(error));

/** Whether the state that was asked for is compacted away. */
export const isCompacted = (error: unknown): boolean =>
  codeOf(error) === status.OUT_OF_RANGE && /compacted/.test(detailsOf(error));

/** Whether the request is larger than members take. Nothing of it was executed. */
export const isTooLarge = (error: unknown): boolean =>
  /request is too large|received message larger than max/.test(detailsOf(error));

const isFull = (error: unknown): boolean => /database space exceeded/.test(detailsOf(error));

/** The error that a call rejects with. A `StoreError` stays as it is. */
export function translated(name: string, error: unknown): StoreError {
  if (StoreError.is(error)) return error;
  const code = codeOf(error);
  const details = detailsOf(error);
  const refuse = (storeCode: StoreError['code'], why: string, trouble?: StoreError['trouble']) =>
    new StoreError(storeCode, `${name} ${why}`, { cause: error, trouble });
  if (isFull(error))
    return refuse(
      'UNAVAILABLE',
      'takes no writes: its database has reached its quota. Compact and defragment it, or raise the quota, then disarm NOSPACE',
      'disk-full',
    );
  if (isTooLarge(error))
    return refuse(
      'INVALID_COMMIT',
      'takes no request of this size: its --max-request-bytes is below the default',
    );
  if (code === status.PERMISSION_DENIED || code === status.UNAUTHENTICATED)
    return refuse('UNUSABLE', `refuses this user: ${details}`);
  if (code === status.DATA_LOSS) return refuse('UNAVAILABLE', `has an alarm: ${details}`);
  return refuse('UNAVAILABLE', `does not answer, or has no majority: ${details}`);
}

/** Reads the URLs of members. Throws a `StoreError` of code `UNUSABLE` for others than `http://…` and `https://…`. */
function addressesOf(urls: readonly string[]) {
  const parsed = urls.map((url) => {
    const one = URL.canParse(url) ? new URL(url) : undefined;
    if (!one?.hostname || !['http:', 'https:'].includes(one.protocol))
      throw new StoreError(
        'UNUSABLE',
        'The URL of a member of etcd is http://host:2379 or https://host:2379',
      );
    return one;
  });
  const [first] = parsed;
  if (!first) throw new StoreError('UNUSABLE', 'A store in etcd needs the URL of one member at least');
  if (parsed.some(({ protocol }) => protocol !== first.protocol))
    throw new StoreError('UNUSABLE', 'All members of etcd are reached by http:// or all by https://');
  return {
    /** Host and port of each. */
    hosts: parsed.map(({ hostname, port, protocol }) => {
      // The port that a URL leaves out is that of its scheme, and not of etcd.
      return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
    }),
    isSecure: first.protocol === 'https:',
    user: first.username ? decodeURIComponent(first.username) : undefined,
    /** Empty if there is none. */
    password: decodeURIComponent(first.password),
  };
}
