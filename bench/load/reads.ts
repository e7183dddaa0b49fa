import { median } from '../harness/measure.ts';
import { Connection } from './connection.ts';
import { call, type RpcTask } from './rpc.ts';

export interface Read {
  readonly url: string;
  /** A task by its id, each of these in turn; a page of 50, the newest tasks or those after a token. */
  readonly ask: { readonly get: readonly string[] } | { readonly list: object; readonly total?: number };
}

interface Page {
  readonly tasks: readonly RpcTask[];
  readonly totalSize: number;
  readonly nextPageToken: string;
}

let ids = 0;

/**
 * Reads one after another, from each server in turn, so often from each; every answer is checked. Resolves to the median
 * for each server, in microseconds.
 */
export async function reads({ from, requests }: { from: readonly Read[]; requests: number }) {
  const connections = await Promise.all(from.map(({ url }) => Connection.open(url)));
  const times = from.map((): number[] => []);
  for (let n = 0; n < requests; n++) {
    for (const [which, asked] of from.entries()) {
      const start = performance.now();
      await read(connections[which]!, asked, n);
      times[which]!.push((performance.now() - start) * 1_000);
    }
  }
  for (const connection of connections) connection.close();
  return times.map(median);
}

async function read(connection: Connection, { url, ask }: Read, n: number): Promise<void> {
  const { host } = new URL(url);
  if ('get' in ask) {
    const id = ask.get[n % ask.get.length]!;
    const task = await call<RpcTask>(connection, host, ++ids, 'GetTask', { id });
    if (task.id !== id || task.status.state !== 'TASK_STATE_COMPLETED' || !task.artifacts?.[0])
      throw new Error(`Another task: ${JSON.stringify(task)}`);
  } else {
    const page = await call<Page>(connection, host, ++ids, 'ListTasks', { pageSize: 50, ...ask.list });
    checkPage(page, ask.total);
  }
}

function checkPage({ tasks, totalSize }: Page, total = totalSize): void {
  const times = tasks.map(({ status }) => status.timestamp ?? '');
  if (tasks.length !== 50 || totalSize !== total || times.some((time, n) => n > 0 && time > times[n - 1]!))
    throw new Error(`A wrong page: ${tasks.length} tasks of ${totalSize}, expected ${total}`);
}

/** Walks through so many pages of 50. Resolves to the ids on the way, the token after them, and when the last one changed. */
export async function walk({ url, pages }: { url: string; pages: number }) {
  const { host } = new URL(url);
  const connection = await Connection.open(url);
  const found: string[] = [];
  let pageToken = '';
  let since = '';
  for (let n = 0; n < pages; n++) {
    const page: Page = await call(connection, host, ++ids, 'ListTasks', { pageSize: 50, pageToken });
    for (const { id } of page.tasks) found.push(id);
    pageToken = page.nextPageToken;
    since = page.tasks.at(-1)?.status.timestamp ?? since;
  }
  connection.close();
  return { ids: found, pageToken, since };
}
