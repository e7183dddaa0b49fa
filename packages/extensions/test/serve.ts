import { type AgentClient, type ConnectOptions, connect } from '@batonjs/client';
import { type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';

/** A server in this process and its clients. */
export function serve(options: Omit<AgentServerOptions, 'store'>) {
  const errors: unknown[] = [];
  const server = createAgentServer({
    ...options,
    store: memoryStore(),
    logger: (_level, _message, { err }) => errors.push(err),
  });
  onTestFinished(() => server.close());
  const client = (more: ConnectOptions = {}): Promise<AgentClient> =>
    connect('http://localhost', { fetch: server.fetch, ...more });
  return { server, client, errors };
}

export const card = { name: 'Test', description: 'For tests' };
