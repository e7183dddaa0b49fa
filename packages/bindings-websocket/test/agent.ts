import { createServer, type Server } from 'node:http';
import {
  type AgentServer,
  type AgentServerOptions,
  artifact,
  completed,
  createAgentServer,
  inputRequired,
  reply,
  type Turn,
  text,
  type Updates,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { attachWebSocket, type WebSocketEndpoint, type WebSocketServerOptions } from '../src/index.ts';

/** Says on which word of the message it does what. */
export async function* converter({ text: said, signal }: Turn): Updates {
  yield working('Converting');
  if (said === 'ask') return yield inputRequired('Which currency?');
  if (said === 'wait') {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return;
  }
  if (said === 'fail') throw new Error('a secret of the agent');
  yield artifact('result', text(`${said} = 92 EUR`));
  yield completed();
}

/** An agent that answers with a message. */
export const echo = ({ text: said }: Turn) => reply(`You said ${said}`);

/** An agent over WebSocket and HTTP, at a free port, until the test ends. */
export interface ServedAgent {
  readonly server: AgentServer;
  readonly listener: Server;
  readonly endpoint: WebSocketEndpoint;
  /** `ws:` */
  readonly url: string;
  /** `http:` */
  readonly origin: string;
}

export async function serve(
  options: Partial<AgentServerOptions> = {},
  sockets: WebSocketServerOptions = {},
): Promise<ServedAgent> {
  const server = createAgentServer({
    card: { name: 'Converter', description: 'Converts money' },
    agent: converter,
    store: memoryStore(),
    logger: () => {},
    ...options,
    timeouts: { cancelGraceMs: 0, ...options.timeouts },
  });
  const listener = createServer(nodeHandler(server));
  const endpoint = attachWebSocket(server, listener, sockets);
  onTestFinished(async () => {
    await Promise.all([server.close({ graceMs: 0 }), endpoint.close({ graceMs: 0 })]);
  });
  const origin = await listen(listener);
  return { server, listener, endpoint, url: endpoint.url!, origin };
}

/** A promise to be resolved from outside: lets a test decide when an agent goes on. */
export const gate = () => Promise.withResolvers<void>();
