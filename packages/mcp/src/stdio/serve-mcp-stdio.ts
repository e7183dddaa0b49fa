import type { AgentClient } from '@batonjs/client';
import { mustKnowOptions } from '@batonjs/protocol/options';
import {
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type ListenRequest, notifyOfTasks, readListen } from '../server/task-methods.ts';
import { type McpOptions, mcpOptions, serverFactory } from '../server/to-mcp.ts';
import { errorOf, type TaskRequests, taskFailure } from '../tasks/task-requests.ts';

/** Options of `serveMcpStdio`. */
export interface McpStdioOptions extends McpOptions {
  /** Default: standard input and output of the process. */
  readonly transport?: Transport | undefined;
}

/**
 * Serves an agent as an MCP server over standard input and output, as `serveStdio(toMcp(agent))` of the SDK does, and
 * tells clients that ask for it of their tasks (`subscriptions/listen`), which the SDK does not. `close` ends it; tasks
 * of the agent go on. Throws `RangeError` for an option out of bounds, and `TypeError` for one that does not exist.
 */
export function serveMcpStdio(
  agent: AgentClient,
  { transport = new StdioServerTransport(), ...options }: McpStdioOptions = {},
): { close(): Promise<void> } {
  mustKnowOptions(options, mcpOptions);
  const { createServer, tasks } = serverFactory(options);
  return serveStdio(({ era }) => createServer(era, agent.card, () => agent), {
    transport: new TaskTransport(transport, agent, tasks),
    onerror: tasks.onError,
  });
}

type Id = string | number;

/** How many subscriptions a connection may have. */
const most = 128;

/**
 * A transport that tells of tasks. The router of the SDK knows no tasks: it checks a `subscriptions/listen` like any
 * other, acknowledges nothing, and keeps the subscription until it is cancelled or the server ends. This one tells of the
 * tasks in between.
 */
class TaskTransport implements Transport {
  readonly #inner: Transport;
  readonly #agent: AgentClient;
  readonly #requests: TaskRequests;
  /** Requests that the SDK has not acknowledged yet. */
  readonly #asked = new Map<Id, ListenRequest>();
  readonly #running = new Map<Id, AbortController>();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(inner: Transport, agent: AgentClient, requests: TaskRequests) {
    this.#inner = inner;
    this.#agent = agent;
    this.#requests = requests;
  }

  async start(): Promise<void> {
    this.#inner.onclose = () => {
      this.#stopAll();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message: JSONRPCMessage) => this.#receive(message);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const id = acknowledgedIn(message);
    const listen = id === undefined ? undefined : this.#asked.get(id);
    if (id === undefined || !listen) return this.#inner.send(message, options);
    this.#asked.delete(id);
    this.#notify(listen);
  }

  async close(): Promise<void> {
    this.#stopAll();
    await this.#inner.close();
  }

  #receive(message: JSONRPCMessage): void {
    const { method, params } = Object(message) as { method?: unknown; params?: { requestId?: Id } };
    if (method === 'notifications/cancelled' && params?.requestId !== undefined) {
      this.#asked.delete(params.requestId);
      this.#running.get(params.requestId)?.abort();
      this.#running.delete(params.requestId);
    }
    try {
      const listen = method === 'subscriptions/listen' ? readListen(message) : undefined;
      if (listen && this.#running.size + this.#asked.size >= most)
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'Subscription limit reached');
      if (listen) this.#asked.set(listen.id, listen);
    } catch (error) {
      const { id } = Object(message) as { id: Id };
      return void this.#write({
        jsonrpc: '2.0',
        id,
        error: errorOf(taskFailure(error, this.#requests.onError)),
      });
    }
    this.onmessage?.(message);
  }

  #notify({ id, taskIds, client }: ListenRequest): void {
    const stop = new AbortController();
    this.#running.set(id, stop);
    const { signal } = stop;
    const send = (message: object) => this.#inner.send(message as JSONRPCMessage);
    const [agent, requests] = [this.#agent, this.#requests];
    notifyOfTasks({ id, taskIds, client, agent, requests, signal, send })
      .then(
        () => ({ result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID_META_KEY]: id } } }),
        (error) => {
          if (signal.aborted) return undefined;
          return { error: errorOf(taskFailure(error, requests.onError)) };
        },
      )
      .then((end) => {
        if (!end || signal.aborted) return;
        this.#running.delete(id);
        this.#write({ jsonrpc: '2.0', id, ...end } as JSONRPCMessage);
        // The SDK would end it once more when the server ends.
        this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      });
  }

  #write(message: JSONRPCMessage): void {
    this.#inner.send(message).catch((error: Error) => this.onerror?.(error));
  }

  #stopAll(): void {
    this.#asked.clear();
    for (const stop of this.#running.values()) stop.abort();
    this.#running.clear();
  }
}

/** The id of the subscription that a message acknowledges. */
function acknowledgedIn(message: JSONRPCMessage): Id | undefined {
  const { method, params } = Object(message) as {
    method?: unknown;
    params?: { _meta?: Record<string, Id | undefined> };
  };
  if (method !== 'notifications/subscriptions/acknowledged') return undefined;
  return params?._meta?.[SUBSCRIPTION_ID_META_KEY];
}
