import { type AgentClient, connect } from '@batonjs/client';
import type { Callee } from '@batonjs/nested-tasks';

/** Connects to an agent: a connected client, a server of this process, or a URL, for which `open` may be given. */
export async function connected(
  agent: Callee,
  open: (url: string) => Promise<AgentClient> = connect,
): Promise<AgentClient> {
  if (typeof agent === 'string') return open(agent);
  if (agent instanceof URL) return open(agent.href);
  if ('handle' in agent) return connect('http://localhost', { fetch: (request) => agent.fetch(request) });
  return agent;
}
