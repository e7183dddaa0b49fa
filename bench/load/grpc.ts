import { SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { chunkText } from '../contenders/chunk-text.ts';

export interface GrpcWork {
  readonly address: string;
  readonly work: 'GetTask' | 'SendMessage' | 'streamed event';
  readonly count: number;
  /** Chunks of each stream. */
  readonly chunks: number;
}

/** Answers of Baton as bytes, in base64, for a floor to repeat. */
export interface GrpcSamples {
  readonly task: string;
  readonly events: readonly string[];
}

const { getTask, sendMessage, sendStreamingMessage, subscribeToTask } = A2AService;
const same = (bytes: Buffer): Buffer => bytes;
const metadata = new Metadata();
metadata.set('a2a-version', '1.0');
let ids = 0;

const message = (text: string, configuration?: object): Buffer =>
  sendMessage.requestSerialize(
    SendMessageRequest.fromJSON({
      configuration,
      message: { messageId: `grpc-${process.pid}-${++ids}`, role: 'ROLE_USER', parts: [{ text }] },
    }),
  );

const call = (client: Client, path: string, bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, bytes, metadata, (error, value) =>
      error ? reject(error) : resolve(value!),
    );
  });

async function stream(client: Client, chunks: number): Promise<Buffer[]> {
  const bytes = message(`chunks ${chunks}`);
  const { path } = sendStreamingMessage;
  const events: Buffer[] = [];
  for await (const event of client.makeServerStreamRequest(path, same, same, bytes, metadata))
    events.push(event as Buffer);
  return events;
}

async function quote(client: Client): Promise<Task> {
  const { payload } = sendMessage.responseDeserialize(await call(client, sendMessage.path, message('quote')));
  if (payload?.$case !== 'task') throw new Error('No task');
  return checked(payload.value);
}

function checked(task: Task): Task {
  if (task.status?.state !== TaskState.TASK_STATE_COMPLETED || !task.artifacts[0])
    throw new Error(`Another task: ${JSON.stringify(task)}`);
  return task;
}

function checkChunks(events: readonly Buffer[], chunks: number): void {
  const texts = events.flatMap((bytes) => {
    const { payload } = sendStreamingMessage.responseDeserialize(bytes);
    const content =
      payload?.$case === 'artifactUpdate' ? payload.value.artifact?.parts[0]?.content : undefined;
    return content?.$case === 'text' ? [content.value] : [];
  });
  if (texts.length !== chunks || texts.some((text, n) => text !== chunkText(n)))
    throw new Error(`${texts.length} of ${chunks} chunks`);
}

const taskId = (id: string): Buffer => getTask.requestSerialize({ tenant: '', id });

const open = (address: string) => new Client(address, credentials.createInsecure());

/** Begins a task whose agent waits. Resolves to its id. */
export async function grpcBegin({ address, text }: { address: string; text: string }): Promise<string> {
  const client = open(address);
  const bytes = message(text, { returnImmediately: true });
  const { payload } = sendMessage.responseDeserialize(await call(client, sendMessage.path, bytes));
  client.close();
  if (payload?.$case !== 'task') throw new Error('No task');
  return payload.value.id;
}

let following: Promise<readonly Buffer[][]> | undefined;

/** Opens so many streams on a task, on four connections. Resolves when each has its first event. */
export async function grpcFollow({
  address,
  id,
  followers,
}: {
  address: string;
  id: string;
  followers: number;
}) {
  const clients = Array.from({ length: 4 }, () => open(address));
  const firsts: Promise<void>[] = [];
  const streams = Array.from({ length: followers }, async (_, n) => {
    const first = Promise.withResolvers<void>();
    firsts.push(first.promise);
    const bytes = subscribeToTask.requestSerialize({ tenant: '', id });
    const { path } = subscribeToTask;
    const events: Buffer[] = [];
    const client = clients[n % clients.length]!;
    for await (const event of client.makeServerStreamRequest(path, same, same, bytes, metadata)) {
      events.push(event as Buffer);
      first.resolve();
    }
    return events;
  });
  following = Promise.all(streams).finally(() => {
    for (const client of clients) client.close();
  });
  await Promise.all(firsts);
}

/** Resolves when all streams have ended, to how many events they had; each must have as many as the first. */
export async function grpcFollowed(): Promise<number> {
  const streams = await following!;
  const { length } = streams[0]!;
  if (length < 2 || streams.some((events) => events.length !== length)) throw new Error('Events are missing');
  return streams.length * length;
}

/** Records the answer to GetTask, and the events that a follower gets while `start` lets the task go on. */
export async function grpcSamples({ address }: { address: string }): Promise<GrpcSamples> {
  const client = open(address);
  const { id } = await quote(client);
  const task = await call(client, getTask.path, taskId(id));
  client.close();
  const [events = []] = (await following) ?? [];
  return { task: task.toString('base64'), events: events.map((event) => event.toString('base64')) };
}

/** Does so much of a work. The first answers are checked. Resolves to how many calls or events there were. */
export async function grpc({ address, work, count, chunks }: GrpcWork): Promise<number> {
  const client = open(address);
  const isStream = work === 'streamed event';
  // The floor has one task, whatever it is asked for.
  const id =
    work === 'GetTask'
      ? await quote(client).then(
          (task) => task.id,
          () => 'any',
        )
      : '';
  let done = 0;
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      if (isStream) {
        const events = await stream(client, chunks);
        if (done === 0) checkChunks(events, chunks);
        done += events.length;
      } else if (work === 'GetTask') {
        const bytes = await call(client, getTask.path, taskId(id));
        if (done++ === 0) checked(getTask.responseDeserialize(bytes));
      } else if (done++ === 0) await quote(client);
      else await call(client, sendMessage.path, message('quote'));
    }
  };
  await Promise.all(Array.from({ length: isStream ? 4 : 16 }, worker));
  client.close();
  return done;
}
