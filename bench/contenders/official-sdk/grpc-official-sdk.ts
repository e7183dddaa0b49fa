/** The official SDK over gRPC, with its store in memory. */
import { DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { A2AService, grpcService, UserBuilder } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { vitals } from '../../harness/vitals.ts';
import { answer } from '../../harness/worker.ts';
import { Executor, officialCard } from './official-agent.ts';

const card = {
  ...officialCard,
  supportedInterfaces: officialCard.supportedInterfaces.map((entry) => ({
    ...entry,
    protocolBinding: 'GRPC',
  })),
};
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
const server = new Server();
server.addService(A2AService, grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
const port = await new Promise<number>((resolve, reject) => {
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  );
});

const questions = { ...vitals, address: () => `127.0.0.1:${port}` };
export type GrpcOfficialSdk = typeof questions;
answer(questions);
