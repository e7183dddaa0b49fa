import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type AgentServer,
  type AgentServerOptions,
  artifact,
  completed,
  createAgentServer,
  failed,
  inputRequired,
  taskAgent,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { scope } from '../scope.ts';
import { untilAborted } from '../until-aborted.ts';
import type { Mount } from './mounts.ts';

/** What must never reach a client. */
export const secret = 'hunter2';

/** An agent on a real port, at `/agent`. */
export interface Served {
  readonly origin: string;
  readonly server: AgentServer;
  /** How often the obedient agent was called. */
  readonly calls: number;
  /** The contents of the store for callers without tenant: how many tasks and answers, and the length of every log. */
  stored(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Serves an agent over HTTP: through `node:http`, or as `mount` says. Without `agent`, the agent does what the text of a message
 * says (`ask`, `hold`, `fail`), and completes otherwise.
 */
export async function serveHttp(
  options: Partial<AgentServerOptions> = {},
  mount: Mount = (server) => nodeHandler(server, { path: '/agent' }),
): Promise<Served> {
  const store = options.store ?? memoryStore();
  let calls = 0;
  const obedient = taskAgent(async function* ({ text, signal }) {
    calls++;
    yield working('On it');
    if (text === 'ask') return yield inputRequired('Well?');
    if (text === 'fail') return yield failed('It did not work');
    if (text === 'hold') await untilAborted(signal);
    yield artifact('answer', text || 'nothing');
    yield completed();
  });
  const server = createAgentServer({
    card: { name: 'Table', description: 'For tests' },
    agent: obedient,
    store,
    push: false,
    logger: () => {},
    ...options,
  });
  const http = createServer(await mount(server)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    server,
    get calls() {
      return calls;
    },
    async stored() {
      const tasks = await store.list(scope, { limit: 200 });
      const answers = await store.list(scope, { limit: 200, answered: true });
      const logs = [...tasks.tasks, ...answers.tasks].map(({ taskId, head }) => `${taskId}@${head.version}`);
      return JSON.stringify([tasks.total, answers.total, logs.sort()]);
    },
    async close() {
      await server.close({ graceMs: 0 });
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
