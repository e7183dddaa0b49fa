import { type AgentClient, type ConnectOptions, connect } from '@batonjs/client';
import { IDEMPOTENCY } from '@batonjs/protocol/headers';
import type { AgentServer } from '@batonjs/server';
import { type AddressPolicyOptions, checkedFetch } from '@batonjs/server/address-policy';

/**
 * An agent to call: a server in this process, a connected client (over any binding, with its credentials), the URL of an
 * agent or of its card, or a name in `agents`.
 */
export type Callee = Pick<AgentServer, 'handle' | 'fetch'> | AgentClient | string | URL;

/** A connected agent. */
export interface Target {
  readonly client: AgentClient;
  /** Where another process finds the agent: its name in `agents`, or its URL. */
  readonly at: string;
  /** Whether the agent is in this process, so that a task that it does not list does not exist. */
  readonly isLocal: boolean;
}

/** Which agents there are, and how to connect to one by its URL. */
export interface AgentsOptions {
  readonly agents: Readonly<Record<string, Callee>>;
  readonly connect: (url: string) => Promise<AgentClient>;
  /** Of the clients of agents in this process. */
  readonly telemetry?: ConnectOptions['telemetry'];
}

/** Connects to agents whose cards lead to their own origin, or where the policy allows. */
export const connectWithin =
  (addresses: AddressPolicyOptions | undefined, options: ConnectOptions = {}): AgentsOptions['connect'] =>
  (url) =>
    connect(url, { ...options, fetch: checkedFetch(url, addresses) });

/** Connects agents, each once. */
export class Agents {
  readonly #options: AgentsOptions;
  readonly #opened = new Map<Callee, Promise<Target>>();
  /** The agents that were called here, by place: a server or client that no name leads to. */
  readonly #places = new Map<string, Target>();

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  /** Rejects as `connect` does, and with `TypeError` for a text that is neither a name nor a URL. */
  async open(callee: Callee): Promise<Target> {
    const { agents } = this.#options;
    const [name, found] =
      typeof callee === 'string' && Object.hasOwn(agents, callee)
        ? [callee, agents[callee]!]
        : (Object.entries(agents).find(([, agent]) => agent === callee) ?? [undefined, callee]);
    const key = found instanceof URL ? found.href : found;
    let opening = this.#opened.get(key);
    if (!opening) {
      opening = this.#connect(key, name);
      this.#opened.set(key, opening);
      // The next call connects again.
      opening.catch(() => this.#opened.delete(key));
    }
    const target = await opening;
    this.#places.set(target.at, target);
    return target;
  }

  /** The agent at a place that a log names. Rejects where nothing in this process leads there. */
  openAt(at: string): Promise<Target> {
    const known = this.#places.get(at);
    return known ? Promise.resolve(known) : this.open(at);
  }

  async #connect(callee: Exclude<Callee, URL>, name: string | undefined): Promise<Target> {
    if (typeof callee === 'string') {
      if (!URL.canParse(callee))
        throw new TypeError(`${JSON.stringify(callee)} is neither a URL nor a name in \`agents\``);
      return { client: await this.#options.connect(callee), at: name ?? callee, isLocal: false };
    }
    if (!('handle' in callee)) return { client: callee, at: name ?? callee.interface.url, isLocal: false };
    const { telemetry } = this.#options;
    const client = await connect('http://localhost', {
      telemetry,
      fetch: (request) => callee.fetch(request),
    });
    return { client, at: name ?? `in this process: ${client.card.name}`, isLocal: true };
  }
}

/** Whether the agent says in its card that a message may be sent twice. */
export const isIdempotent = (client: AgentClient): boolean => offers(client, IDEMPOTENCY);

/** Whether the card of the agent lists the extension. */
export const offers = ({ card }: AgentClient, extension: string): boolean =>
  card.capabilities?.extensions?.some(({ uri }) => uri === extension) ?? false;
