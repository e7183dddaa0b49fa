/** The floor under gRPC: a service of grpc-js that answers the bytes of samples. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import type { GrpcSamples } from '../../load/grpc.ts';

const samples = given<GrpcSamples>();
const task = Buffer.from(samples.task, 'base64');
const events = samples.events.map((event) => Buffer.from(event, 'base64'));

const same = (bytes: Buffer): Buffer => bytes;
const method = (name: string, responseStream: boolean) => ({
  path: `/lf.a2a.v1.A2AService/${name}`,
  requestStream: false as const,
  responseStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
});

type Follower = ServerWritableStream<Buffer, Buffer>;
const followers = new Set<Follower>();

const server = new Server();
server.addService(
  { GetTask: method('GetTask', false), SubscribeToTask: method('SubscribeToTask', true) },
  {
    GetTask: (_call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) => respond(null, task),
    SubscribeToTask(call: Follower) {
      followers.add(call);
      call.write(events[0]!);
    },
  },
);
const port = await new Promise<number>((resolve, reject) => {
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  );
});

const questions = {
  ...vitals,
  address: () => `127.0.0.1:${port}`,
  /** Writes the events after the first to all followers, one every so many milliseconds, and ends the streams. */
  async produce(everyMs: number): Promise<void> {
    for (const event of events.slice(1)) {
      await sleep(everyMs);
      await Promise.all([...followers].map((call) => call.write(event) || once(call, 'drain')));
    }
    for (const call of followers) call.end();
    followers.clear();
  },
};
export type GrpcFloor = typeof questions;
answer(questions);
