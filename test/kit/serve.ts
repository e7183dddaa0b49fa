import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  type Logger,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { closedAfterTest } from './closed-after-test.ts';

export interface ServeOptions extends Partial<AgentServerOptions> {
  /** Whether its log hears that the event loop was blocked, which a busy machine does to any test. Default false. */
  readonly logsStalls?: boolean;
}

/** Starts a server in this process that is closed when the test ends. Options take precedence over the defaults of the file. */
export type Serve = (agent: Agent, options?: ServeOptions) => AgentServer;

/** The log without what says more about the machine than about the test. */
const withoutStalls =
  (logger: Logger): Logger =>
  (level, message, details) => {
    if (message !== 'The event loop was blocked') logger(level, message, details);
  };

/** `serve` with the options that the tests of one file share. Without them: tasks in memory, and a log that is dropped. */
export const serveWith =
  (defaults: Partial<AgentServerOptions> = {}): Serve =>
  (agent, { logsStalls = false, ...options } = {}) => {
    const logger = options.logger ?? defaults.logger ?? (() => {});
    return closedAfterTest(
      createAgentServer({
        card: { name: 'Test', description: 'For tests' },
        store: memoryStore(),
        ...defaults,
        agent,
        ...options,
        ...grouped(defaults, options),
        logger: logsStalls || typeof logger !== 'function' ? logger : withoutStalls(logger),
      }),
    );
  };

/** The groups of options: of each, a test may give some members, and the file others. */
const grouped = (defaults: Partial<AgentServerOptions>, options: Partial<AgentServerOptions>) => ({
  timeouts: { ...defaults.timeouts, ...options.timeouts },
  messages: { ...defaults.messages, ...options.messages },
});

/** A server with tasks in memory that drops its log, until the test ends. */
export const serve: Serve = serveWith();
