import { quoteText } from '../contenders/chunk-text.ts';
import { Connection } from './connection.ts';
import { message, type RpcTask, rpc } from './rpc.ts';

export interface Sends {
  readonly url: string;
  readonly connections: number;
  readonly requests: number;
}

let ids = 0;

/** Sends `quote` again and again and waits for each answer; every answer is checked. Resolves to milliseconds. */
export async function sends({ url, connections, requests }: Sends): Promise<number> {
  const { host } = new URL(url);
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(url)));
  let left = requests;
  const start = performance.now();
  await Promise.all(
    open.map(async (connection) => {
      while (left-- > 0) {
        const id = ++ids;
        const { status, body } = await connection.request(
          rpc(host, id, 'SendMessage', message(`message-${id}`, 'quote')),
        );
        checkQuote(status, body, id);
      }
    }),
  );
  const ms = performance.now() - start;
  for (const connection of open) connection.close();
  return ms;
}

/** One answer as it came, for a floor to repeat. */
export async function sampleOf({ url }: { url: string }): Promise<{ body: string; id: number }> {
  const { host } = new URL(url);
  const connection = await Connection.open(url);
  const id = ++ids;
  const { status, body } = await connection.request(
    rpc(host, id, 'SendMessage', message(`message-${id}`, 'quote')),
  );
  checkQuote(status, body, id);
  connection.close();
  return { body, id };
}

function checkQuote(status: number, body: string, id: number): void {
  const reply = JSON.parse(body) as { id: number; result?: { task?: RpcTask } };
  const task = reply.result?.task;
  const artifact = task?.artifacts?.[0];
  const said = task?.history?.[0];
  if (
    status !== 200 ||
    reply.id !== id ||
    !task?.id ||
    !task.contextId ||
    task.status.state !== 'TASK_STATE_COMPLETED' ||
    !task.status.timestamp ||
    task.artifacts?.length !== 1 ||
    artifact?.artifactId !== 'quote' ||
    artifact.parts[0]?.text !== quoteText ||
    said?.messageId !== `message-${id}` ||
    said.parts[0]?.text !== 'quote'
  )
    throw new Error(`A wrong answer (${status}): ${body}`);
}
