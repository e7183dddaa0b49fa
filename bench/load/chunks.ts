import { chunkText } from '../contenders/chunk-text.ts';
import { Connection } from './connection.ts';
import { eventReader, message, type RpcTask, rpc } from './rpc.ts';

export interface Chunks {
  readonly url: string;
  readonly count: number;
  readonly mode: 'blocking' | 'streaming';
}

let ids = 0;

interface StreamEvent {
  readonly result?: {
    readonly task?: RpcTask;
    readonly statusUpdate?: { readonly status: { readonly state: string } };
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
  const { state, texts } =
    mode === 'blocking'
      ? blocking(await connection.request(rpc(host, id, 'SendMessage', params)))
      : await streaming(connection, rpc(host, id, 'SendStreamingMessage', params));
  const ms = performance.now() - start;
  connection.close();
  if (state !== 'TASK_STATE_COMPLETED') throw new Error(`The task is ${state}`);
  if (texts.length !== count) throw new Error(`${texts.length} of ${count} chunks`);
  for (const [n, text] of texts.entries())
    if (text !== chunkText(n)) throw new Error(`Chunk ${n} is ${text}`);
  return ms;
}

interface Seen {
  readonly state: string | undefined;
  readonly texts: readonly (string | undefined)[];
}

function blocking({ body }: { body: string }): Seen {
  const { result } = JSON.parse(body) as StreamEvent;
  const parts = result?.task?.artifacts?.[0]?.parts ?? [];
  return { state: result?.task?.status.state, texts: parts.map(({ text }) => text) };
}

async function streaming(connection: Connection, request: string): Promise<Seen> {
  const texts: (string | undefined)[] = [];
  let state: string | undefined;
  const read = eventReader((data) => {
    const { result } = JSON.parse(data) as StreamEvent;
    if (result?.artifactUpdate) texts.push(result.artifactUpdate.artifact.parts[0]?.text);
    state = result?.statusUpdate?.status.state ?? state;
  });
  await connection.stream(request, read);
  return { state, texts };
}
