import { httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { grpcClient } from '@batonjs/bindings-grpc';
import { v03Client } from '@batonjs/bindings-v0-3';
import { type AgentClient, type CardCache, connect } from '@batonjs/client';
import type { AgentServer } from '@batonjs/server';
import { answerRequest } from '@batonjs/server/adapter';
import type { InspectedAgent } from '../options.ts';
import { recordedFetch, recordedTransport, type Tap } from '../wire/recorded-fetch.ts';
import { WireLog } from '../wire/wire-log.ts';

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
  #raw: unknown;

  constructor(url: string, options: Pick<InspectedAgent, 'connect' | 'server'>) {
    this.url = url;
    this.#options = options;
  }

  /** The card as the agent sent it last. */
  get raw(): unknown {
    return this.#raw;
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
        this.#raw = card;
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
