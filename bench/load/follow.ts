import { Connection } from './connection.ts';
import { call, eventReader, message, type RpcTask, rpc } from './rpc.ts';

interface Following {
  readonly ended: Promise<void>;
  close(): void;
  /** Nanoseconds between each event's making and its arrival. */
  readonly delays: number[];
}

let following: Following[] = [];
let ids = 0;

interface Event {
  readonly id: number;
  readonly result?: {
    readonly statusUpdate?: { readonly status: { readonly state: string } };
    readonly artifactUpdate?: {
      readonly artifact: { readonly parts: readonly { readonly text?: string }[] };
    };
  };
}

/** Starts a task and leaves it to the agent. Resolves to its id. */
export async function begin({ url, text }: { url: string; text: string }): Promise<string> {
  const { host } = new URL(url);
  const connection = await Connection.open(url);
  const params = { ...message(`begin-${++ids}`, text), configuration: { returnImmediately: true } };
  const { task } = await call<{ task: RpcTask }>(connection, host, ids, 'SendMessage', params);
  connection.close();
  return task.id;
}

/** Opens so many streams on a task; resolves when all have their first event. Each then expects `count` chunks in order. */
export const follow = (params: { url: string; taskId: string; followers: number; count: number }) =>
  followEach({ ...params, taskIds: Array.from({ length: params.followers }, () => params.taskId) });

/** Opens a stream on each of these tasks. */
export async function followEach({
  url,
  taskIds,
  count,
}: {
  url: string;
  taskIds: readonly string[];
  count: number;
}): Promise<void> {
  const begun: Promise<void>[] = [];
  for (const taskId of taskIds) {
    const { following: one, first } = await followOne({ url, taskId, count });
    following.push(one);
    begun.push(first);
  }
  await Promise.all(begun);
}

async function followOne({ url, taskId, count }: { url: string; taskId: string; count: number }) {
  const connection = await Connection.open(url);
  const id = ++ids;
  const first = Promise.withResolvers<void>();
  const delays: number[] = [];
  let events = 0;
  let state: string | undefined;
  const read = eventReader((data) => {
    const arrived = process.hrtime.bigint();
    const event = JSON.parse(data) as Event;
    if (event.id !== id || !event.result) throw new Error(`A wrong event: ${data}`);
    events++;
    first.resolve();
    const text = event.result.artifactUpdate?.artifact.parts[0]?.text;
    state = event.result.statusUpdate?.status.state ?? state;
    if (text === undefined) return;
    const [n, made] = text.split(' ');
    if (Number(n) !== delays.length) throw new Error(`Event ${n} instead of ${delays.length}`);
    delays.push(Number(arrived - BigInt(made!)));
  });
  const ended = connection
    .stream(rpc(new URL(url).host, id, 'SubscribeToTask', { id: taskId }), read)
    .then(() => {
      connection.close();
      if (delays.length !== count || state !== 'TASK_STATE_COMPLETED')
        throw new Error(`${delays.length} of ${count} events, then ${state} (${events})`);
    });
  ended.catch(first.reject);
  return { following: { ended, delays, close: () => connection.close() }, first: first.promise };
}

/** Waits until all streams have ended as they should. Resolves to how long events took, in nanoseconds. */
export async function followed(): Promise<number[]> {
  await Promise.all(following.map(({ ended }) => ended));
  const delays = following.flatMap(({ delays }) => delays);
  following = [];
  return delays;
}
