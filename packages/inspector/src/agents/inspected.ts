import { httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { grpcClient } from '@batonjs/bindings-grpc';
import { v03Client } from '@batonjs/bindings-v0-3';
import { type AgentClient, type CardCache, connect } from '@batonjs/client';
import { callerScope, knownCallers, versionsOf } from '@batonjs/operator';
import { unlessAborted } from '@batonjs/protocol/timing';
import type { AgentServer } from '@batonjs/server';
import { answerRequest } from '@batonjs/server/adapter';
import { insideOf } from '@batonjs/server/internals';
import type { PushConfigStore, Scope, TaskName, TaskStore } from '@batonjs/store';
import type { AgentSummary } from '../api/agent.ts';
import type { InspectedAgent } from '../options.ts';
import { recordedFetch, recordedTransport, type Tap } from '../wire/recorded-fetch.ts';
import { WireLog } from '../wire/wire-log.ts';

/** An agent that the inspector shows. */
export interface Inspected {
  readonly id: string;
  /** Its name on the card, once that was read. */
  name: string;
  readonly link: AgentLink | undefined;
  readonly store: AgentStore | undefined;
  readonly server: AgentServer | undefined;
  readonly options: InspectedAgent;
  /** A viewer added it. */
  isAdded?: true;
  /** Why the card could not be read the last time. */
  problem?: string | undefined;
  /** The description on the card, once it was read. */
  description?: string | undefined;
}

/** Prepares an agent. `id` is its name in the paths of the inspector. Throws `TypeError` for options without an agent. */
export function inspected(options: InspectedAgent, taken: (id: string) => boolean): Inspected {
  const inside = options.server && insideOf(options.server);
  const name = options.name ?? inside?.name ?? nameOf(options.url);
  const tasks = options.store ?? inside?.store;
  if (name === undefined)
    throw new TypeError('An agent to inspect needs `url`, `server`, or `store` with `name`');
  const url = options.url ?? inside?.publicUrl ?? (options.server && `http://${hostOf(name)}.localhost`);
  return {
    id: freeId(name, taken),
    name: options.server?.card.name ?? name,
    link: url === undefined ? undefined : new AgentLink(url, options),
    store: tasks && storeOf(tasks, options.server ? (inside?.name ?? name) : name, options),
    server: options.server,
    options,
    description: options.server?.card.description,
  };
}

/** An agent as the list shows it. */
export const summaryOf = ({ id, name, link, store, server, ...about }: Inspected): AgentSummary => ({
  id,
  name,
  description: about.description,
  url: link?.url,
  canCall: link !== undefined,
  hasStore: store !== undefined,
  hasServer: server !== undefined,
  scopes: store?.scopes.map(({ label }) => label) ?? [],
  isAdded: about.isAdded,
  problem: about.problem,
});

/** How long callers are known, in milliseconds. */
const callersMs = 5_000;
/** How long the pages of all agents wait for the store of one, in milliseconds. */
const answerMs = 2_000;

/** What a store answers; rejects if that takes so long that the pages of all agents go on without it. */
export const answered = <T>(answer: Promise<T>): Promise<T> =>
  unlessAborted(answer, AbortSignal.timeout(answerMs));

export type AgentStore = ReturnType<typeof storeOf>;

/** The tasks of an agent in its store, where it has the name `queue`. */
function storeOf(tasks: TaskStore & Partial<PushConfigStore>, queue: string, { callers }: InspectedAgent) {
  const scopes = (callers ?? [{}]).map((caller) => callerScope(queue, caller));
  let lookAt = callers ? Number.POSITIVE_INFINITY : 0;
  let looking = Promise.resolve();
  const look = async () => {
    const known = new Set(scopes.map(({ scope }) => scope));
    for (const caller of await answered(knownCallers(tasks, queue)).catch(() => []))
      if (!known.has(caller.scope)) scopes.push(caller);
  };
  return {
    tasks,
    /** Undefined if the store keeps no webhooks. */
    webhooks: tasks.listPushConfigs ? (tasks as TaskStore & PushConfigStore) : undefined,
    queue,
    unserved: unservedTasks(tasks, queue),
    /** Those that are known so far: the place of one in the list stays, so that links lead to it. */
    scopes,
    /** Looks for further callers, at most every five seconds. A store that does not answer has none. */
    refresh(): Promise<void> {
      if (performance.now() >= lookAt) {
        lookAt = performance.now() + callersMs;
        looking = look();
      }
      return looking;
    },
  };
}

function nameOf(url: string | undefined): string | undefined {
  const parsed = url === undefined ? undefined : URL.parse(url);
  if (!parsed) return url;
  const last = parsed.pathname.split('/.well-known/', 1)[0]!.split('/').findLast(Boolean);
  return last ? `${last} at ${parsed.host}` : parsed.host;
}

const hostOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '-') || 'agent';

function freeId(name: string, taken: (id: string) => boolean): string {
  const wanted = hostOf(name);
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? wanted : `${wanted}-${count}`;
    if (!taken(id)) return id;
  }
}

/** A task whose turn waits for a version that no process runs. */
export interface UnservedTask extends TaskName {
  readonly version: string;
}

/** How many tasks of a version are found. */
const mostOfVersion = 100;
/** The shortest time between two looks, in milliseconds: tasks that are found for the first time are looked at again soon. */
const pauseMs = { usual: 5_000, soon: 1_000 };

/**
 * The tasks of an agent that only processes of versions could take that run nowhere. While such a process runs, a task
 * waits for it only shortly: so one counts from the second look that finds it.
 */
export function unservedTasks(store: TaskStore, queue: string, now: () => number = () => performance.now()) {
  let waiting: ReadonlySet<string> = new Set();
  let found: Promise<readonly UnservedTask[]> | undefined;
  let lookAt = Number.NEGATIVE_INFINITY;

  /** All of them, as they were a moment ago. */
  function read(): Promise<readonly UnservedTask[]> {
    if (found && now() < lookAt) return found;
    lookAt = now() + pauseMs.usual;
    found = look().catch((error: unknown) => {
      lookAt = Number.NEGATIVE_INFINITY;
      throw error;
    });
    return found;
  }

  async function look(): Promise<readonly UnservedTask[]> {
    const all: UnservedTask[] = [];
    if (store.pinned)
      for (const version of await versionsOf(store, queue))
        for (const task of await store.pinned(queue, version, mostOfVersion)) all.push({ ...task, version });
    const found = all.filter((task) => waiting.has(keyOf(task)));
    waiting = new Set(all.map(keyOf));
    if (found.length < all.length) lookAt = now() + pauseMs.soon;
    return found;
  }

  return {
    read,
    /** The version that a task waits for; undefined if it is not unserved. */
    async versionFor(scope: Scope, taskId: string): Promise<string | undefined> {
      const found = (await read()).find((task) => task.scope === scope && task.taskId === taskId);
      return found?.version;
    },
  };
}

const keyOf = ({ scope, taskId, version }: UnservedTask): string => JSON.stringify([scope, taskId, version]);

/** The interface that calls go to. */
export interface InterfaceName {
  readonly binding: string;
  readonly version: string;
}

/** The connection of the inspector to one agent. Every request is in `wire`. */
export class AgentLink {
  readonly url: string;
  readonly wire = new WireLog();
  readonly #options: Pick<InspectedAgent, 'connect' | 'server'>;
  readonly #cards: CardCache = new Map();
  readonly #grpc = grpcClient();
  #client: Promise<AgentClient> | undefined;
  #chosen: InterfaceName | undefined;
  /** The card as the agent sent it last. */
  raw: unknown;

  constructor(url: string, options: Pick<InspectedAgent, 'connect' | 'server'>) {
    this.url = url;
    this.#options = options;
  }

  /** Sends the next calls to another interface of the card. */
  use(name: InterfaceName | undefined): void {
    this.#chosen = name;
    this.#client = undefined;
  }

  /** The client of the agent. Reads the card the first time, and again after a failure. */
  client(): Promise<AgentClient> {
    this.#client ??= this.connect();
    this.#client.catch(() => {
      this.#client = undefined;
    });
    return this.#client;
  }

  /** A client of its own, for one task that is followed. */
  connect(tap: Tap = {}): Promise<AgentClient> {
    const { connect: given = {}, server } = this.#options;
    return connect(this.url, {
      cards: this.#cards,
      retry: { attempts: 3 },
      followForMs: Number.POSITIVE_INFINITY,
      ...given,
      ...(this.#chosen && { binding: this.#chosen.binding, version: this.#chosen.version }),
      fetch: recordedFetch(sendTo(server, this.url), this.wire, tap),
      bindings: [jsonRpcClient, httpJsonClient, recordedTransport(this.#grpc, this.wire, tap)],
      compatibility: [v03Client()],
      verifyCard: (card) => {
        this.raw = card;
      },
    });
  }
}

/** Requests for the agent's URL are answered by its server, if it runs in this process. */
function sendTo(server: AgentServer | undefined, base: string): (request: Request) => Promise<Response> {
  const { origin, pathname } = new URL(base);
  const mount = pathname.replace(/\/$/, '');
  return (request) => {
    const url = new URL(request.url);
    const isOwn = url.origin === origin && `${url.pathname}/`.startsWith(`${mount}/`);
    if (!server || !isOwn) return fetch(request);
    return answerRequest(server, request, {
      path: url.pathname.slice(mount.length),
      baseUrl: `${origin}${mount}`,
    });
  };
}
