import {
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
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';
import { listenGrpc } from '../src/index.ts';

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

/** An agent on gRPC, at a free port, until the test ends. */
export async function serve(options: Partial<AgentServerOptions> = {}) {
  const server = createAgentServer({
    card: { name: 'Converter', description: 'Converts money' },
    agent: converter,
    store: memoryStore(),
    logger: () => {},
    ...options,
    timeouts: { cancelGraceMs: 0, ...options.timeouts },
  });
  const listener = await listenGrpc(server, { port: 0 });
  onTestFinished(async () => {
    await Promise.all([server.close({ graceMs: 0 }), listener.close({ graceMs: 0 })]);
  });
  return { server, listener, address: listener.address! };
}

/** An agent that answers with a message. */
export const echo = ({ text: said }: Turn) => reply(`You said ${said}`);

/** A listener over a server of which some parts are replaced. */
export async function serveTarget(parts: Partial<Parameters<typeof listenGrpc>[0]>) {
  const { server } = await serve({ agent: converter });
  const listener = await listenGrpc({ ...server, ...parts }, { port: 0 });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  return { address: listener.address! };
}
