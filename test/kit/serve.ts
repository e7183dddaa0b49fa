import { type Agent, type AgentServer, type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { closedAfterTest } from './closed-after-test.ts';

/** Starts a server in this process that is closed when the test ends. Options take precedence over the defaults of the file. */
export type Serve = (agent: Agent, options?: Partial<AgentServerOptions>) => AgentServer;

/** `serve` with the options that the tests of one file share. Without them: tasks in memory, and a log that is dropped. */
export const serveWith =
  (defaults: Partial<AgentServerOptions> = {}): Serve =>
  (agent, options = {}) =>
    closedAfterTest(
      createAgentServer({
        card: { name: 'Test', description: 'For tests' },
        store: memoryStore(),
        log: () => {},
        ...defaults,
        agent,
        ...options,
      }),
    );

/** A server with tasks in memory that drops its log, until the test ends. */
export const serve: Serve = serveWith();
