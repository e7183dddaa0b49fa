import { createServer } from 'node:http';
import { type AgentClient, connect } from '@batonjs/client';
import { type AgentServer, type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { node } from '../../../test/kit/processes.ts';
import { builtProgram } from '../../../test/support/built-program.ts';
import { type McpHandlerOptions, mcpHandler } from '../src/index.ts';
import { type Gate, skillsAgent } from './skills-agent.ts';

/** Both kinds of MCP: with sessions, and without. */
export const versions = ['2025-11-25', '2026-07-28'] as const;
export type Version = (typeof versions)[number];

/** Opens the gate of an agent. */
export function closedGate(): Gate & { release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: promise, release: resolve };
}

/** An A2A server in this process until the test ends, and a client of it. */
export async function serveAgent(
  options: Pick<AgentServerOptions, 'agent' | 'card'>,
): Promise<{ server: AgentServer; agent: AgentClient }> {
  const server = createAgentServer({ ...options, store: memoryStore(), logger: () => {} });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { server, agent: await connect('http://localhost', { fetch: server.fetch }) };
}

/** The URL of an MCP server over HTTP until the test ends, and the errors that it did not show. */
export async function serveMcp(agent: AgentClient, options: McpHandlerOptions = {}) {
  const errors: unknown[] = [];
  const handler = mcpHandler(agent, { onError: (error) => errors.push(error), ...options });
  const url = await listen(createServer(toNodeHandler(handler)));
  onTestFinished(() => handler.close());
  return { url: new URL(url), errors, handler };
}

/** The agent with a skill for everything, as an MCP server. */
export async function serveSkills(gate: Gate = closedGate(), options: McpHandlerOptions = {}) {
  const served = await serveAgent(skillsAgent(gate));
  return { ...served, ...(await serveMcp(served.agent, options)) };
}

/** What the user enters, question by question; undefined closes the question, `false` declines it. */
export type Answers = readonly (Record<string, string | number> | undefined | false)[];

/** A client of the MCP SDK. With answers, it shows forms. */
export async function mcpClient(
  url: URL,
  version: Version,
  answers?: Answers,
  transport: StreamableHTTPClientTransportOptions = {},
) {
  const asked: { message: string; requestedSchema?: object }[] = [];
  const options: ClientOptions = {
    capabilities: answers ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode: version === '2025-11-25' ? 'legacy' : { pin: version } },
  };
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  const left = [...(answers ?? [])];
  if (answers)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params as (typeof asked)[number]);
      const content = left.shift();
      if (content === undefined) return { action: 'cancel' };
      return content === false ? { action: 'decline' } : { action: 'accept', content };
    });
  await client.connect(new StreamableHTTPClientTransport(url, transport));
  onTestFinished(() => client.close());
  return Object.assign(client, { asked });
}

/** A client of `baton mcp`, until the test ends. `onError` gets what the program writes to standard error. */
export async function programClient(
  flags: readonly string[],
  { env, onError }: { env: Record<string, string>; onError: (text: string) => void },
) {
  const program = await builtProgram(new URL('../../cli/src/main.ts', import.meta.url));
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const around = { PATH, NODE_COMPILE_CACHE, ...env };
  const args = ['--disable-warning=ExperimentalWarning', program, 'mcp', ...flags];
  const transport = new StdioClientTransport({ command: node, args, env: around, stderr: 'pipe' });
  transport.stderr?.on('data', (piece) => onError(String(piece)));
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

/** The text of a result. */
export const textOf = ({ content }: { content: readonly { type: string; text?: string }[] }): string =>
  content.map(({ text }) => text ?? '').join('\n');
