import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GrpcListener } from '@batonjs/bindings-grpc';
import { v03 } from '@batonjs/bindings-v0-3';
import type { ClientTelemetry } from '@batonjs/client';
import { type Action, inspector } from '@batonjs/inspector';
import { openStore, type SampleStore } from '@batonjs/sample-store';
import { type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { createTaskGateway } from '@batonjs/task-gateway';
import { createApp } from './app.ts';
import { attachWebSockets } from './attach-web-sockets.ts';
import type { Exhibit } from './exhibit.ts';
import { listenOnGrpc } from './listen-on-grpc.ts';
import type { Settings } from './settings.ts';
import { StartError } from './start-error.ts';

/** An agent as the gallery lists it: the options of its server, without those that the gallery sets. */
export type GalleryAgent = Omit<AgentServerOptions, 'store' | 'publicUrl'> & {
  /** Its path below `/agents/`, and its queue in the store. */
  readonly name: string;
};

/**
 * The agents, or a function that makes them from the URL at which this machine reaches the gallery, and from what their
 * calls of other agents are told to.
 */
export type GalleryAgents =
  | readonly [GalleryAgent, ...GalleryAgent[]]
  | ((localUrl: string, telemetry?: ClientTelemetry) => readonly [GalleryAgent, ...GalleryAgent[]]);

/** A gallery that is being served. */
export interface Gallery {
  /** Where this machine reaches it. */
  readonly localUrl: string;
  /** The address of the inspector, with its token. It answers this machine only. */
  readonly inspectorUrl: string;
  readonly exhibits: readonly [Exhibit, ...Exhibit[]];
  /** Accepts no more requests, lets running turns finish, and closes the store. */
  close(): Promise<void>;
}

/** Clients of A2A 0.3 are served too, in any of its spellings. */
const compatibility = [v03({ lenient: true })];

/** How long a question waits for its answer, in milliseconds: a task that never ends is never pruned. */
const timeouts = { interruptedMs: 7 * 24 * 60 * 60 * 1_000 };

/** Tasks that ended are kept for 30 days. */
const retention = { closedAfterMs: 30 * 24 * 60 * 60 * 1_000 };

/** What the inspector may do: all, for it answers only this machine and holders of its token. */
const actions: readonly Action[] = [
  'send',
  'cancel',
  'wake',
  'fork',
  'assign',
  'redeliver',
  'fetch-file',
  'add-agent',
  'share',
  'read-requests',
  'read-prompts',
  'share',
  'kill',
];

/** How long open answers may take to be sent once every server has closed, in milliseconds. */
const flushMs = 1_000;

/** Opens the store, takes the port, serves the agents. Rejects with a `StartError` if the store or the port fails. */
export async function openGallery(agents: GalleryAgents, settings: Settings): Promise<Gallery> {
  const store = await openStoreOf(settings);
  const listener = createServer({ requestTimeout: 60_000, headersTimeout: 15_000 });
  listener.maxConnections = 10_000;
  try {
    await listen(listener, settings);
  } catch (error) {
    await store.close();
    throw error;
  }
  const localUrl = localUrlOf(listener, settings.host);
  const telemetry = await telemetryOf(settings);
  const [first, ...others] = typeof agents === 'function' ? agents(localUrl, telemetry?.client) : agents;
  const serve = ({ name, ...options }: GalleryAgent): Exhibit => {
    const url = `${settings.publicUrl ?? localUrl}/agents/${name}`;
    const server = createAgentServer({
      callbacks: true,
      compatibility,
      retention,
      ...(settings.logger && { logger: settings.logger }),
      ...options,
      timeouts: { ...timeouts, ...options.timeouts },
      name,
      store,
      publicUrl: url,
      ...(telemetry && { telemetry: telemetry.server }),
    });
    return { name, url, server };
  };
  const exhibits: [Exhibit, ...Exhibit[]] = [serve(first), ...others.map(serve)];
  let grpc: readonly GrpcListener[];
  try {
    grpc = await listenOnGrpc(exhibits, settings, settings.publicUrl ?? localUrl);
  } catch (error) {
    listener.close();
    await Promise.all(exhibits.map(({ server }) => server.close({ graceMs: 0 })));
    await store.close();
    throw error;
  }
  const types = Object.fromEntries(exhibits.map(({ name, server }) => [name, server]));
  const gateway = createTaskGateway({ types, store, telemetry, publicUrl: settings.publicUrl });
  gateway.attach(listener);
  const sockets = attachWebSockets(listener, exhibits, settings.perMinute);
  const inspect = inspector({
    agents: exhibits.map(({ name, url, server }) => ({ name, url, server })),
    allow: actions,
    token: settings.inspectorToken,
    kill: settings.kill,
    clientRequests: true,
    ...(settings.traceUrl && { traceUrl: settings.traceUrl }),
    ...(settings.modelPrices && { modelPrices: settings.modelPrices }),
  });
  listener.on('request', createApp(exhibits, settings.perMinute, gateway, inspect, settings.kill));

  return {
    localUrl,
    inspectorUrl: inspect.addressAt(`${localUrl}/inspector`),
    exhibits,
    async close() {
      inspect.close();
      // The port stays open until then: `/readyz` answers 503, and waiting clients get their answers.
      await Promise.all([gateway, ...exhibits.map(({ server }) => server)].map((each) => each.close()));
      await Promise.all([...grpc, ...sockets].map((served) => served.close({ graceMs: flushMs })));
      const closed = once(listener, 'close');
      listener.close();
      setTimeout(() => listener.closeAllConnections(), flushMs).unref();
      await closed;
      await store.close();
      await telemetry?.close();
    },
  };
}

/** Loaded only where it is wanted: the SDK is large. */
const telemetryOf = async ({ otlpEndpoint }: Settings) =>
  otlpEndpoint === undefined
    ? undefined
    : (await import('./telemetry/start-telemetry.ts')).startTelemetry(otlpEndpoint);

async function openStoreOf({ store }: Settings): Promise<SampleStore> {
  try {
    return await openStore(store);
  } catch (error) {
    throw new StartError(`Tasks cannot be kept there (BATON_STORE, BATON_DATA): ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function listen(listener: Server, { host, port }: Settings): Promise<void> {
  try {
    await once(listener.listen(port, host), 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EADDRINUSE'
        ? `Port ${port} of ${host} is in use. Stop what runs there, or set PORT to another one.`
        : `Port ${port} of ${host} cannot be used (HOST, PORT): ${messageOf(error)}`;
    throw new StartError(reason, { cause: error });
  }
}

function localUrlOf(listener: Server, host: string): string {
  const { port, family } = listener.address() as AddressInfo;
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
