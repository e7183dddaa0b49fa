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
export function sessionsOf(most: number) {
  /** In the order of their last use. */
  const sessions = new Map<string, Session>();
  if (!(Number.isInteger(most) && most > 0))
    throw new RangeError(`sessions is an integer above 0, not ${most}`);

  /** The least recently used session of the caller with the most: one caller cannot end the sessions of the others. */
  function nextToLeave(): [string, Session] {
    const counts = new Map<string, number>();
    for (const { caller } of sessions.values()) counts.set(caller, (counts.get(caller) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return [...sessions].find(([, { caller }]) => counts.get(caller) === most)!;
  }

  return {
    add(id: string, session: Session): void {
      sessions.set(id, session);
      if (sessions.size <= most) return;
      const [oldest, { server }] = nextToLeave();
      sessions.delete(oldest);
      void server.close();
    },
    /** The session of a caller. Undefined for another caller: an id is no proof of who calls. */
    get(id: string, caller: string): Session | undefined {
      const session = sessions.get(id);
      if (session?.caller !== caller) return undefined;
      sessions.delete(id);
      sessions.set(id, session);
      return session;
    },
    remove: (id: string): void => void sessions.delete(id),
    async close(): Promise<void> {
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.all(all.map(({ server }) => server.close()));
    },
  };
}
