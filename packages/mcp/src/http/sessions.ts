import type { AgentClient } from '@batonjs/client';
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** The caller of a request, and the agent that answers it. */
export interface McpCaller {
  /** Names the caller, the same in each of its requests. A session answers only its own caller. Never empty. */
  readonly caller: string;
  /** Such as a client with credentials for this caller. */
  readonly agent: AgentClient;
}

/** The session of a client before protocol 2026-07-28. */
interface Session {
  /** Who began it. */
  readonly caller: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
}

/** The newest sessions, at most so many. */
export class Sessions {
  readonly #most: number;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();

  constructor(most: number) {
    if (!(Number.isInteger(most) && most > 0))
      throw new RangeError(`sessions is an integer above 0, not ${most}`);
    this.#most = most;
  }

  add(id: string, session: Session): void {
    this.#sessions.set(id, session);
    if (this.#sessions.size <= this.#most) return;
    const [oldest, { server }] = this.#nextToLeave();
    this.#sessions.delete(oldest);
    void server.close();
  }

  /** The least recently used session of the caller with the most: one caller cannot end the sessions of the others. */
  #nextToLeave(): [string, Session] {
    const counts = new Map<string, number>();
    for (const { caller } of this.#sessions.values()) counts.set(caller, (counts.get(caller) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return [...this.#sessions].find(([, { caller }]) => counts.get(caller) === most)!;
  }

  /** The session of a caller. Undefined for another caller: an id is no proof of who calls. */
  get(id: string, caller: string): Session | undefined {
    const session = this.#sessions.get(id);
    if (session?.caller !== caller) return undefined;
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  remove(id: string): void {
    this.#sessions.delete(id);
  }

  async close(): Promise<void> {
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(all.map(({ server }) => server.close()));
  }
}
