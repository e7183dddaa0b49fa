import type { AgentClient } from '@batonjs/client';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpRequestContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type McpFactory, type McpOptions, toMcp } from '../server/to-mcp.ts';
import { Sessions } from './sessions.ts';

/** Options of `mcpHandler`. */
export interface McpHandlerOptions extends McpOptions {
  /**
   * Sessions of clients before protocol 2026-07-28 that are kept; the one that was used least recently makes room for
   * another. Default 1,000.
   */
  readonly sessions?: number;
}

/** MCP over streamable HTTP, for any server that speaks `fetch`. */
export interface McpHandler {
  /** Answers a request to the endpoint, whatever its path. */
  fetch(request: Request): Promise<Response>;
  /** Ends all sessions and requests. Tasks of the agent go on. */
  close(): Promise<void>;
}

/**
 * Serves an agent as an MCP server over streamable HTTP. A function chooses the agent for a request, such as one with
 * the credentials of its caller: once for each request, and once for each session of an older client.
 *
 * It checks neither callers nor the `Host` and `Origin` headers: put it behind what does.
 */
export function mcpHandler(
  agent: AgentClient | ((request: Request) => AgentClient | Promise<AgentClient>),
  options: McpHandlerOptions = {},
): McpHandler {
  const onerror = options.onError;
  const shared: McpFactory | undefined = typeof agent === 'function' ? undefined : toMcp(agent, options);
  const serverFor = async (connection: Pick<McpRequestContext, 'era' | 'requestInfo'>) => {
    if (shared) return shared(connection);
    const chosen = typeof agent === 'function' ? await agent(connection.requestInfo!) : agent;
    return toMcp(chosen, options)(connection);
  };
  const stateless = createMcpHandler(serverFor, { legacy: 'reject', ...(onerror && { onerror }) });
  const sessions = new Sessions(options.sessions ?? 1_000);

  const startSession = async (request: Request): Promise<Response> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => sessions.add(id, { transport, server }),
      onsessionclosed: (id) => sessions.remove(id),
    });
    const server = await serverFor({ era: 'legacy', requestInfo: request });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // The request was no `initialize`, and was refused.
    if (transport.sessionId === undefined) await server.close();
    return response;
  };

  return {
    async fetch(request) {
      const id = request.headers.get('mcp-session-id');
      const session = id === null ? undefined : sessions.get(id);
      if (session) return session.transport.handleRequest(request);
      if (id !== null) return sessionNotFound();
      return (await isLegacyRequest(request.clone())) ? startSession(request) : stateless.fetch(request);
    },
    async close() {
      await Promise.all([stateless.close(), sessions.close()]);
    },
  };
}

/** Clients start a new session then. Spec: MCP 2025-11-25, Session Management. */
const sessionNotFound = (): Response =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } },
    { status: 404 },
  );
