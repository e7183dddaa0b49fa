import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { completed, createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { callTool } from '../../../src/tools.ts';

// An agent that calls a tool of an MCP server: its arguments are a folder, a port, and the URL of the server.
const [, , folder = '', port = '0', url = ''] = process.argv;

const client = new Client(
  { name: 'agent', version: '1.0.0' },
  {
    capabilities: { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  },
);
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const server = createAgentServer({
  card: { name: 'Near', description: 'Calls a tool' },
  async *agent(turn) {
    const { content } = yield* callTool(turn, client, 'Far', { message: turn.text });
    const [first] = content;
    yield completed(first?.type === 'text' ? first.text : '');
  },
  store: sqliteStore(join(folder, 'tasks.db')),
  restart: { maxAttempts: 100 },
  timeouts: { leaseMs: 600 },
  logger: () => {},
});
const listener = createServer(nodeHandler(server)).listen(Number(port), '127.0.0.1');
await once(listener, 'listening');
console.log(`listening at ${(listener.address() as { port: number }).port}`);
