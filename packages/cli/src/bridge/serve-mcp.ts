import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type AgentClient, connect } from '@batonjs/client';
import { mcpHandler } from '@batonjs/mcp';
import { listenMcp, serveMcpStdio } from '@batonjs/mcp/node';
import { shareQueue } from '@batonjs/operator';
import { createAgentServer, type Logger } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { bridgeAgent } from './bridge-agent.ts';

/** What the bridge is told. Times in milliseconds. */
export interface McpBridgeOptions {
  /** The file that keeps the tasks. */
  readonly data: string;
  readonly waitMs: number;
  readonly pollIntervalMs: number;
  readonly retentionMs: number;
  readonly unreachableMs: number;
  readonly resend: boolean;
  /** Undefined serves standard input and output. */
  readonly http:
    | { readonly port: number; readonly host: string; readonly allowedHosts: readonly string[] }
    | undefined;
  readonly logger: Logger;
  readonly onError: (error: unknown) => void;
}

/** A bridge that serves until it is closed. */
export interface McpBridge {
  /** Undefined over standard input and output. */
  readonly url?: string;
  /** Ends it. Tasks of the agent go on, and the next bridge on the same file follows them. */
  close(): Promise<void>;
}

/** A dead bridge is noticed after so long, in milliseconds. */
const leaseMs = 3_000;

/** Serves an agent over MCP, with a task of its own for each of the agent's: its handles outlive this process. */
export async function serveMcp(target: AgentClient, options: McpBridgeOptions): Promise<McpBridge> {
  const { data, waitMs, pollIntervalMs, retentionMs, unreachableMs, resend, http, logger, onError } = options;
  mkdirSync(dirname(data), { recursive: true, mode: 0o700 });
  const agent = bridgeAgent(target, { unreachableMs, resend, logger });
  const store = sqliteStore(data);
  // The tasks are those of this file, whatever the card of the agent says today.
  await shareQueue(store, 'agent', agent.card.name);
  const server = createAgentServer({
    ...agent,
    store,
    // Each start of the bridge may cost an attempt.
    restart: { maxAttempts: 1_000 },
    timeouts: { leaseMs },
    retention: { closedAfterMs: retentionMs },
    logger,
  });
  const connected = await connect('http://localhost', { fetch: server.fetch });
  const mcp = { waitMs, tasks: { pollIntervalMs, retentionMs }, onError };
  try {
    const listening =
      http &&
      (await listenMcp(
        mcpHandler(() => ({ caller: 'anyone', agent: connected }), mcp),
        http,
      ));
    const served = listening ?? serveMcpStdio(connected, mcp);
    return {
      ...(listening && { url: listening.url }),
      async close() {
        await served.close();
        await server.close({ graceMs: 0 });
      },
    };
  } catch (error) {
    await server.close({ graceMs: 0 });
    throw error;
  }
}
