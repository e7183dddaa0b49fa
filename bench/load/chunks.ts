import { chunkText } from '../contenders/chunk-text.ts';
import { Connection } from './connection.ts';
import { eventReader, message, type RpcTask, rpc } from './rpc.ts';

export interface Chunks {
  readonly url: string;
  readonly count: number;
  readonly mode: 'blocking' | 'streaming';
}

let ids = 0;

type Status = RpcTask['status'];

interface StreamEvent {
  readonly result?: {
    readonly task?: RpcTask;
    readonly statusUpdate?: { readonly status: Status };
    readonly artifactUpdate?: {
      readonly artifact: { readonly parts: readonly { readonly text?: string }[] };
    };
  };
}

/** Sends `chunks <count>` and checks that every chunk arrives, in order. Resolves to milliseconds. */
export async function chunks({ url, count, mode }: Chunks): Promise<number> {
  const { host } = new URL(url);
  const connection = await Connection.open(url);
  const id = ++ids;
  const params = message(`chunks-${id}`, `chunks ${count}`);
  const start = performance.now();
  const { status, texts } =
    mode === 'blocking'
      ? blocking(await connection.request(rpc(host, id, 'SendMessage', params)))
      : await streaming(connection, rpc(host, id, 'SendStreamingMessage', params));
  const ms = performance.now() - start;
  connection.close();
  if (status?.state !== 'TASK_STATE_COMPLETED') throw new Error(`The task is ${JSON.stringify(status)}`);
  if (texts.length !== count) throw new Error(`${texts.length} of ${count} chunks`);
  for (const [n, text] of texts.entries())
    if (text !== chunkText(n)) throw new Error(`Chunk ${n} is ${text}`);
  return ms;
}

interface Seen {
  readonly status: Status | undefined;
  readonly texts: readonly (string | undefined)[];
}

function blocking({ body }: { body: string }): Seen {
  const { result } = JSON.parse(body) as StreamEvent;
  const parts = result?.task?.artifacts?.[0]?.parts ?? [];
  return { status: result?.task?.status, texts: parts.map(({ text }) => text) };
}

async function streaming(connection: Connection, request: string): Promise<Seen> {
  const texts: (string | undefined)[] = [];
  let status: Status | undefined;
  const read = eventReader((data) => {
    const { result } = JSON.parse(data) as StreamEvent;
    if (result?.artifactUpdate) texts.push(result.artifactUpdate.artifact.parts[0]?.text);
    status = result?.statusUpdate?.status ?? status;
  });
  await connection.stream(request, read);
  return { status, texts };
}
