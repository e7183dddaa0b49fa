/** Baton over gRPC, with its store in memory. */
import { listenGrpc } from '@batonjs/bindings-grpc';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { vitals } from '../../harness/vitals.ts';
import { answer } from '../../harness/worker.ts';
import { agent, start } from '../agents.ts';

const server = createAgentServer({
  card: { name: 'Bench', description: 'Answers quotes' },
  agent,
  store: memoryStore(),
});
const { address } = await listenGrpc(server, { port: 0 });

const questions = { ...vitals, address: () => address!, start };
export type GrpcBaton = typeof questions;
answer(questions);
