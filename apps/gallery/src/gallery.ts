import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { v03 } from '@batonjs/bindings-v0-3';
import { type AgentServer, type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { createApp } from './app.ts';
import type { Settings } from './settings.ts';
import { StartError } from './start-error.ts';

/** An agent as the gallery lists it: all that its server is told, except what the gallery knows. */
export type GalleryAgent = Omit<AgentServerOptions, 'store' | 'publicUrl'> & {
  /** Its place below `/agents/`, and its queue in the store. */
  readonly name: string;
};

/** The agents, or what they are once it is known where this machine reaches them. */
export type GalleryAgents =
  | readonly [GalleryAgent, ...GalleryAgent[]]
  | ((localUrl: string) => readonly [GalleryAgent, ...GalleryAgent[]]);

/** An agent that is being served. */
export interface Exhibit {
  readonly name: string;
  /** Where its clients find it. */
  readonly url: string;
  readonly server: AgentServer;
}

/** A gallery that is being served. */
export interface Gallery {
  /** Where this machine reaches it. */
  readonly localUrl: string;
  readonly exhibits: readonly [Exhibit, ...Exhibit[]];
  /** Accepts nothing more, lets what runs finish, and closes the database. */
  close(): Promise<void>;
}

/** Clients of A2A 0.3 are served too, however they spell it. */
const compatibility = [v03({ lenient: true })];

/** How long a question waits for its answer, in milliseconds: a task that never ends is never pruned. */
const clocks = { interruptedMs: 7 * 24 * 60 * 60 * 1_000 };

/** How long an answer may take to go out once everything has ended, in milliseconds. */
const farewellMs = 1_000;

/** Opens the database, takes the port, serves the agents. Rejects with a `StartError` if one of the two cannot be had. */
export async function openGallery(agents: GalleryAgents, settings: Settings): Promise<Gallery> {
  const store = openStore(settings.dataFolder);
  const listener = createServer();
  try {
    await listen(listener, settings);
  } catch (error) {
    await store.close();
    throw error;
  }
  const localUrl = localUrlOf(listener, settings.host);
  const [first, ...others] = typeof agents === 'function' ? agents(localUrl) : agents;
  const serve = ({ name, ...options }: GalleryAgent): Exhibit => {
    const url = `${settings.publicUrl ?? localUrl}/agents/${name}`;
    const server = createAgentServer({
      compatibility,
      cors: true,
      clocks,
      ...options,
      name,
      store,
      publicUrl: url,
    });
    return { name, url, server };
  };
  const exhibits: [Exhibit, ...Exhibit[]] = [serve(first), ...others.map(serve)];
  listener.on('request', createApp(exhibits, settings.perMinute));

  return {
    localUrl,
    exhibits,
    async close() {
      // The port stays open meanwhile: `/readyz` says that it is over, and waiting clients get their answers.
      await Promise.all(exhibits.map(({ server }) => server.close()));
      const closed = once(listener, 'close');
      listener.close();
      setTimeout(() => listener.closeAllConnections(), farewellMs).unref();
      await closed;
      await store.close();
    },
  };
}

function openStore(folder: string): ReturnType<typeof sqliteStore> {
  try {
    return sqliteStore(join(folder, 'tasks.db'));
  } catch (error) {
    throw new StartError(`Tasks cannot be kept in ${folder} (BATON_DATA): ${messageOf(error)}`, {
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
