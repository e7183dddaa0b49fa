import { setTimeout as pause } from 'node:timers/promises';
import { quoteText } from '../contenders/chunk-text.ts';
import type { Sample } from '../contenders/template.ts';
import { Connection } from './connection.ts';
import { eventReader, message, type RpcTask, rpc } from './rpc.ts';

/** Milliseconds from a request to events of its stream. */
export interface Seen {
  /** The task, SUBMITTED. */
  readonly submitted: number;
  /** The first event of the agent. */
  readonly working: number;
  readonly ended: number;
}

interface Event {
  readonly id: number;
  readonly result?: {
    readonly task?: RpcTask;
    readonly statusUpdate?: { readonly status: { readonly state: string } };
    readonly artifactUpdate?: { readonly artifact: { readonly parts: readonly { text?: string }[] } };
  };
}

const expected = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', quoteText, 'TASK_STATE_COMPLETED'].join();
let ids = 0;

/** Sends `quote` on so many open connections at once, each as a stream. Every event is checked. */
export async function streamsAtOnce({ url, streams }: { url: string; streams: number }): Promise<Seen[]> {
  const { host } = new URL(url);
  const open: Connection[] = [];
  for (let n = 0; n < streams; n++) open.push(await Connection.open(url));
  const seen = await Promise.all(open.map((connection) => stream(connection, host)));
  for (const connection of open) connection.close();
  return seen;
}

/** Sends `quote` as a stream, so many times, one after another with pauses between them. Every event is checked. */
export async function streamsInTurn(params: {
  url: string;
  streams: number;
  pauseMs: number;
}): Promise<Seen[]> {
  const { url, streams, pauseMs } = params;
  const seen: Seen[] = [];
  const connection = await Connection.open(url);
  for (let n = 0; n < streams; n++) {
    await pause(Math.random() * pauseMs);
    seen.push(await stream(connection, new URL(url).host));
  }
  connection.close();
  return seen;
}

async function stream(connection: Connection, host: string): Promise<Seen> {
  const id = ++ids;
  const times: number[] = [];
  const said: (string | undefined)[] = [];
  const read = eventReader((data) => {
    times.push(performance.now() - start);
    const { id: answered, result } = JSON.parse(data) as Event;
    if (answered !== id || !result) throw new Error(`A wrong event: ${data}`);
    const { task, statusUpdate, artifactUpdate } = result;
    said.push(task?.status.state ?? statusUpdate?.status.state ?? artifactUpdate?.artifact.parts[0]?.text);
  });
  const request = rpc(host, id, 'SendStreamingMessage', message(`message-${id}`, 'quote'));
  const start = performance.now();
  await connection.stream(request, read);
  if (said.join() !== expected) throw new Error(`A stream said ${said.join()}`);
  return { submitted: times[0]!, working: times[1]!, ended: times[3]! };
}

/** The events of one stream as they came, for a floor to repeat. */
export async function sampleStream({ url }: { url: string }): Promise<Sample[]> {
  const connection = await Connection.open(url);
  const id = ++ids;
  const samples: Sample[] = [];
  const request = rpc(new URL(url).host, id, 'SendStreamingMessage', message(`message-${id}`, 'quote'));
  let rest = '';
  await connection.stream(request, (text) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop()!;
    for (const event of events) samples.push({ id, body: `${event}\n\n` });
  });
  connection.close();
  return samples;
}
