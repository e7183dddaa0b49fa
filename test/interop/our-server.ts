import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  append,
  artifact,
  completed,
  createAgentServer,
  data,
  failed,
  inputRequired,
  reply,
  type TaskUpdate,
  type Turn,
  working,
} from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import express from 'express';
import { untilAborted } from '../kit/until-aborted.ts';

/** Does what the text says: `talk`, `ask`, `hold` (until canceled or released), `fail`; works otherwise. */
export interface OurServer {
  /** The origin, at which the agent is mounted too. */
  readonly url: string;
  readonly server: AgentServer;
  /** Lets turns on `hold` go on. */
  release(): void;
  close(): Promise<void>;
}

/** Our server on a real port, with Express. */
export async function serveOurs(options: Partial<AgentServerOptions> = {}): Promise<OurServer> {
  const held = Promise.withResolvers<void>();
  const agent: Agent = (turn) =>
    turn.text === 'talk' ? reply('Nice to meet you') : work(turn, held.promise);
  const server = createAgentServer({
    card: { name: 'Versatile', description: 'For peers' },
    store: memoryStore(),
    agent,
    logger: () => {},
    ...options,
  });
  const http = createServer(express().use('/agent', a2aExpress(server)).use(a2aExpress(server)));
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    server,
    release: held.resolve,
    async close() {
      held.resolve();
      await server.close({ graceMs: 0 });
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

async function* work({ text, messages, signal }: Turn, held: Promise<void>): AsyncGenerator<TaskUpdate> {
  if (messages.length === 1 && text === 'ask') return yield inputRequired('Which currency?');
  yield working('On it');
  if (text === 'fail') return yield failed({ code: 'NO_LUCK', message: 'It did not work' });
  yield artifact('quote', '10 USD');
  if (text === 'hold') await Promise.race([held, untilAborted(signal)]);
  if (signal.aborted) return;
  yield append({ artifactId: 'quote', lastChunk: true }, ' is 833 INR', data({ rate: 83.3 }));
  yield completed('Done');
}
