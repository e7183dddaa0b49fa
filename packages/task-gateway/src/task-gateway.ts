import { routeUpgrades, type UpgradeListener } from '@batonjs/bindings-websocket/sockets';
import { type AgentClient, type ClientTelemetry, connect } from '@batonjs/client';
import { guardHook } from '@batonjs/protocol/hooks';
import { withDefaults } from '@batonjs/protocol/options';
import { type AgentServer, type Caller, createAgentServer, type Handle } from '@batonjs/server';
import { answerInTime, withOwnHost } from '@batonjs/server/adapter';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { cancelWaiting, type DispatchSettings, dispatcher } from './dispatch/dispatcher.ts';
import { createTargets } from './dispatch/targets.ts';
import { createHandler } from './http/handler.ts';
import { gatewayOptions, type TaskGatewayOptions, unknownGatewayOptions } from './options.ts';
import { createSocketServer } from './sockets/socket-server.ts';
import { taskWatches } from './sockets/task-watches.ts';
import { readingStore, taskLogOf } from './tasks/task-log.ts';
import { taskService } from './tasks/task-service.ts';

/** A task service in front of agents. */
export interface TaskGateway {
  /** Answers HTTP requests: `nodeHandler(gateway)`, `listen(gateway)` or `a2aExpress(gateway)` serve it. */
  readonly handle: Handle;
  /**
   * Accepts WebSockets at `/task/updates` below `path` (default `/`) of a server of `node:http` or `node:https`. The server
   * also needs a handler for requests, such as `nodeHandler(gateway)`. Throws a `TypeError` for a path that is taken.
   */
  attach(listener: UpgradeListener, options?: { readonly path?: string }): void;
  /** Whether it accepts requests and its store takes writes. */
  ready(): Promise<boolean>;
  /**
   * Accepts nothing more, and hands its tasks over to other processes after up to `graceMs` milliseconds (default 10,000).
   * The agents and the store stay open.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Serves tasks of several types, each done by an agent: `POST /task`, `GET /task/{taskId}` and the routes below it. Starts at
 * once to go on with tasks that other processes left.
 */
export function createTaskGateway(options: TaskGatewayOptions): TaskGateway {
  const complete = withDefaults(gatewayOptions, options);
  const { store = memoryStore(), name, publicUrl, unreachableMs, bodyBytes, telemetry } = complete;
  const logger = guardHook('The logger', complete.logger);
  const authenticate = complete.authenticate && answerInTime('authenticate', complete.authenticate);
  for (const line of unknownGatewayOptions(options)) logger('warn', line, {});
  const connecting = { timeoutMs: unreachableMs, telemetry: telemetry.client };
  const targets = createTargets(options.types, connecting, options.addresses);
  const dispatch = { targets, unreachableMs, logger };
  const server = serverOf({ ...complete, store, logger }, dispatch);
  const reading = readingStore(store);
  const tasks = taskLogOf(reading, name);
  const service = taskService(tasks, clientOf(server, telemetry.client), headersOf);
  let open = true;
  const closing = new AbortController();
  const watches = taskWatches(tasks, logger);
  const settings = { logger, service, authenticate, publicUrl, bodyBytes, isOpen: () => open };
  const sockets = createSocketServer(options.webSockets ?? {}, { ...settings, watches });
  return {
    handle: withOwnHost(createHandler({ ...settings, closing: closing.signal }), {
      hasAuthenticate: authenticate !== undefined,
      publicUrl,
    }),
    attach(listener, { path = '/' } = {}) {
      const updates = `${path.replace(/(?<!\/)\/+$/, '')}/task/updates`.replace(/^\/\//, '/');
      routeUpgrades(listener, updates, sockets.upgrade);
    },
    ready: () => server.ready(),
    async close(options) {
      open = false;
      // Watchers see how the tasks end that finish meanwhile.
      await server.close(options);
      closing.abort();
      sockets.close(1001, 'The gateway closes');
      watches.closeAll();
      await reading.close();
    },
  };
}

/** The gateway's own agent server. Each task that it gets is handed to the agent of its type. */
const serverOf = (
  {
    name,
    store,
    leaseMs,
    timeoutMs,
    bodyBytes,
    logger,
    telemetry,
  }: typeof gatewayOptions & { readonly store: TaskStore },
  dispatch: DispatchSettings,
): AgentServer =>
  createAgentServer({
    card: { name, description: 'Hands tasks to the agents of their types' },
    agent: dispatcher(dispatch),
    onCancel: cancelWaiting(dispatch),
    name,
    store,
    authenticate: ({ headers }) => JSON.parse(decodeURIComponent(headers[callerHeader]!)),
    messages: { idempotency: true },
    // Another attempt attaches to what the one before it started, however often that was.
    restart: { maxAttempts: 1_000 },
    timeouts: { leaseMs, taskMs: timeoutMs, interruptedMs: timeoutMs },
    // Escapes can make the JSON of the message longer than the JSON that the client sent.
    // A turn mostly waits: for its agent, and for answers of the host.
    limits: { bodyBytes: 6 * bodyBytes + 65_536, turns: 10_000 },
    push: false,
    logger,
    telemetry: telemetry.server,
  });

/** Names the caller to the gateway's own agent server, which only the gateway can reach. */
const callerHeader = 'x-task-gateway-caller';

const headersOf = ({ scope, claims }: Caller, submission?: string): Record<string, string> => ({
  [callerHeader]: encodeURIComponent(
    JSON.stringify({ scope, claims: { ...claims, ...(submission && { submission }) } }).toWellFormed(),
  ),
});

/** The client of the gateway's own agent server, in this process. */
function clientOf(server: AgentServer, telemetry: ClientTelemetry | undefined): () => Promise<AgentClient> {
  let client: Promise<AgentClient> | undefined;
  const url = 'http://task-gateway.invalid/';
  const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
  return () => {
    client ??= connect(
      { ...server.card, supportedInterfaces },
      { fetch: (request) => server.fetch(request), retry: false, telemetry },
    );
    return client;
  };
}
