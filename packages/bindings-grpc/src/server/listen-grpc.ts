import type { CallTarget, ProtobufVersion } from '@batonjs/bindings';
import { isLoopback } from '@batonjs/protocol/headers';
import { mustKnowOptions, type OptionNames, type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import { Server, ServerCredentials, type ServerOptions } from '@grpc/grpc-js';
import { mustBeUsable } from '../usable-tls.ts';
import { a2aService, type Service, serviceOf } from '../wire/a2a-service.ts';
import { arrivalsOf } from './arrivals.ts';
import { implement } from './grpc-service.ts';
import { healthService } from './health.ts';

/** The certificate of a listener. All in PEM. */
export interface GrpcTls {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Certificates that sign those of clients. With it, a client without such a certificate is refused. */
  readonly clientCa?: string | Buffer;
}

type CardAddress = string | false | undefined;

/** The options of `listenGrpc` but its port, with the defaults. */
const listenOptions = {
  /** Default `127.0.0.1`. */
  host: '127.0.0.1',
  /** Without it the listener takes plaintext, which other hosts than loopback need `plaintext` for. */
  tls: undefined as GrpcTls | undefined,
  /** Allows plaintext on a host that is not loopback: behind a proxy that has the certificate. */
  plaintext: false,
  /**
   * The address in the card, as it stands there. Default: host and port of the listener, as `host:port`, which SDKs pass
   * to their gRPC library. `false`: the card does not list gRPC. `{ '0.3': 'http://host:port' }` is that of one version,
   * `{ '0.3': false }` lists the others. Needed for a host that means all addresses, such as `0.0.0.0`: the card does not
   * list gRPC without it.
   */
  address: undefined as CardAddress | Readonly<Record<string, CardAddress>> | undefined,
  /** Versions that are served besides 1.0: `[v03Grpc()]` of `@batonjs/bindings-v0-3`. The card lists them too. */
  versions: [] as readonly ProtobufVersion[],
  /** How long a request may take to arrive, in milliseconds; then it is refused with DEADLINE_EXCEEDED. Default 30,000. */
  requestMs: 30_000,
  /** Options of grpc-js, over those of this listener. */
  channelOptions: undefined as ServerOptions | undefined,
};

/** What `listenGrpc` takes. */
export interface ListenGrpcOptions extends OptionsOf<typeof listenOptions> {
  /** 0: any free one. */
  readonly port: number;
}

const ofTls: OptionNames<GrpcTls> = { cert: true, key: true, clientCa: true };
const known = { ...listenOptions, port: true, tls: ofTls };

/** A listener that serves gRPC. */
export interface GrpcListener {
  readonly port: number;
  /** Where the card lists gRPC of 1.0; undefined if it does not. */
  readonly address: string | undefined;
  /**
   * Takes the interface off the card, accepts no more calls, and waits up to `graceMs` milliseconds (default 10,000) for
   * those that run; then breaks them off. The server itself stays open: its own `close` ends streams at once.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Serves an agent over gRPC, with the health service, and lists the address in its card. Rejects if the port cannot
 * be bound, and with a `TypeError` for an unknown option, for plaintext on a host that is not loopback and for a key that
 * cannot be used. Spec: §10.
 */
export async function listenGrpc(server: CallTarget, options: ListenGrpcOptions): Promise<GrpcListener> {
  mustKnowOptions(options, known);
  const { host, tls, plaintext, requestMs, versions, channelOptions, address } = withDefaults(
    listenOptions,
    options,
  );
  if (!tls && !plaintext && !isLoopback(host))
    throw new TypeError(`gRPC on ${host} needs \`tls\`, or \`plaintext: true\` behind a proxy that has it`);
  const credentials = credentialsOf(tls);
  const spoken: readonly Service[] = [a2aService, ...versions.map(serviceOf)];
  if (typeof address === 'object')
    mustKnowOptions(address, Object.fromEntries(spoken.map(({ version }) => [version, true])), 'address');
  const addressOf = (version: string) => (typeof address === 'object' ? address[version] : address);
  const { bodyBytes } = server.limits;
  const arrivals = arrivalsOf({ connectionBytes: 4 * bodyBytes, requestMs });
  const listener = new Server({
    'grpc.max_receive_message_length': bodyBytes,
    'grpc.max_concurrent_streams': 1_000,
    'grpc.max_connection_idle_ms': 300_000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    interceptors: [arrivals.intercept],
    ...channelOptions,
  });
  const names = spoken.map((service) => service.name);
  const services = [...spoken.map((service) => implement(server, service)), healthService(server, names)];
  for (const { definition, implementation } of services) listener.addService(definition, implementation);
  const name = host.includes(':') ? `[${host}]` : host;
  const port = await bind(listener, `${name}:${options.port}`, credentials).catch((error) => {
    arrivals.close();
    throw error;
  });
  const isAnyHost = host === '0.0.0.0' || host === '::';
  const own = isAnyHost ? undefined : `${name}:${port}`;
  const addresses = spoken.map(({ version }): CardAddress => addressOf(version) ?? own);
  const listed = spoken.flatMap(({ version: protocolVersion }, index) => {
    const url = addresses[index];
    return url ? [server.addInterface({ url, protocolBinding: 'GRPC', protocolVersion })] : [];
  });
  let closing: Promise<void> | undefined;
  return {
    port,
    address: addresses[0] || undefined,
    close({ graceMs = 10_000 } = {}) {
      for (const unlist of listed) unlist();
      closing ??= shutDown(listener, graceMs).finally(() => arrivals.close());
      return closing;
    },
  };
}

const bind = (listener: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) => {
    listener.bindAsync(address, credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });

function credentialsOf(tls: GrpcTls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { cert, key, clientCa } = tls;
  mustBeUsable({ cert, key, ca: clientCa });
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  return ServerCredentials.createSsl(clientCa ? Buffer.from(clientCa) : null, [pair], clientCa !== undefined);
}

const shutDown = (listener: Server, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    // grpc-js breaks off a closing connection at its next ping, which cannot be sent any more. It has no option for that.
    Reflect.set(listener, 'keepaliveTimeMs', 0);
    const timer = setTimeout(() => listener.forceShutdown(), graceMs);
    listener.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
