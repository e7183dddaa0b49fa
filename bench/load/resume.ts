import { chunkText } from '../contenders/chunk-text.ts';
import { Connection } from './connection.ts';
import { eventReader, message, rpc } from './rpc.ts';

interface Event {
  readonly result?: {
    readonly task?: { readonly id: string };
    readonly statusUpdate?: { readonly status: { readonly state: string } };
    readonly artifactUpdate?: {
      readonly artifact: { readonly parts: readonly { readonly text?: string }[] };
    };
  };
}

/** Has so many chunks made and streamed. Resolves to the task, and to the id of the event with the chunk in the middle. */
export async function record({ url, chunks }: { url: string; chunks: number }) {
  const connection = await Connection.open(url);
  let taskId = '';
  let middle = '';
  let seen = 0;
  const read = eventReader((data, id) => {
    const { result } = JSON.parse(data) as Event;
    taskId ||= result?.task?.id ?? '';
    if (result?.artifactUpdate && ++seen === chunks / 2) middle = id ?? '';
  });
  const params = message('recorded', `chunks ${chunks}`);
  await connection.stream(rpc(new URL(url).host, 1, 'SendStreamingMessage', params), read);
  connection.close();
  return { taskId, lastEventId: middle };
}

export interface Resume {
  /** With the path, if it is not `/`. */
  readonly url: string;
  readonly taskId: string;
  readonly lastEventId: string;
  readonly chunks: number;
}

/**
 * Resumes a stream in its middle and checks that the other half of the chunks arrives, in order. Resolves to milliseconds
 * and to the events as they were written.
 */
export async function resume({ url, taskId, lastEventId, chunks }: Resume) {
  const { host, pathname } = new URL(url);
  const connection = await Connection.open(url);
  const written: string[] = [];
  const header = `Last-Event-ID: ${lastEventId}\r\n`;
  const request = rpc(host, 1, 'SubscribeToTask', { id: taskId }, header).replace(
    'POST /',
    `POST ${pathname}`,
  );
  const start = performance.now();
  await connection.stream(request, (text) => void written.push(text));
  const ms = performance.now() - start;
  connection.close();

  let next = chunks / 2;
  let state: string | undefined;
  const text = written.join('');
  const read = eventReader((data) => {
    const { result } = JSON.parse(data) as Event;
    state = result?.statusUpdate?.status.state ?? state;
    const chunk = result?.artifactUpdate?.artifact.parts[0]?.text;
    if (chunk !== undefined && chunk !== chunkText(next++))
      throw new Error(`${chunk} is not chunk ${next - 1}`);
  });
  read(text);
  if (next !== chunks || state !== 'TASK_STATE_COMPLETED')
    throw new Error(`Chunk ${next} of ${chunks}, then ${state}`);
  return { ms, events: text.split(/(?<=\n\n)/) };
}
