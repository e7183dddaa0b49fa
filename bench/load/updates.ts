import { once } from 'node:events';
import { WebSocket } from 'ws';

interface Update {
  readonly event: string;
  readonly taskId: string;
  readonly status: string;
  readonly progress?: number;
  readonly sequence: number;
}

interface Watching {
  readonly socket: WebSocket;
  readonly ended: Promise<void>;
}

let watching: Watching[] = [];

/** Opens so many sockets and subscribes each to all tasks. Resolves when every socket has an update of each task. */
export async function watchTasks(params: {
  url: string;
  sockets: number;
  tasks: readonly string[];
  /** Reports of each task between the first one and its end. */
  count: number;
}): Promise<void> {
  const begun: Promise<void>[] = [];
  for (let n = 0; n < params.sockets; n++) {
    const socket = new WebSocket(`${params.url.replace('http', 'ws')}/task/updates`);
    await once(socket, 'open');
    const { first, ended } = read(socket, params.tasks, params.count);
    watching.push({ socket, ended });
    begun.push(first);
  }
  await Promise.all(begun);
}

function read(socket: WebSocket, tasks: readonly string[], count: number) {
  const first = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(first.reject);
  const seen = new Map(tasks.map((id) => [id, { reports: 0, sequence: -1 }]));
  let [started, over] = [0, 0];
  socket.on('message', (data) => {
    const { event, taskId, status, progress, sequence } = JSON.parse(String(data)) as Update;
    const task = seen.get(taskId);
    if (event !== 'task_update' || !task || sequence <= task.sequence)
      return ended.reject(new Error(`A wrong frame: ${data}`));
    if (task.sequence === -1 && ++started === tasks.length) first.resolve();
    task.sequence = sequence;
    if (progress !== undefined) task.reports += 1;
    if (status !== 'completed') return;
    if (task.reports !== count) return ended.reject(new Error(`${task.reports} of ${count} reports`));
    if (++over === tasks.length) ended.resolve();
  });
  socket.on('close', () => ended.reject(new Error('A socket was closed')));
  for (const taskId of tasks) socket.send(JSON.stringify({ event: 'subscribe', taskId }));
  return { first: first.promise, ended: ended.promise };
}

/** Opens so many sockets that subscribe to nothing. */
export async function openSockets({ url, sockets }: { url: string; sockets: number }): Promise<void> {
  for (let n = 0; n < sockets; n++) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/task/updates`);
    await once(socket, 'open');
    watching.push({ socket, ended: Promise.resolve() });
  }
}

/** Waits until all sockets have seen their tasks end, and closes them. */
export async function watchedTasks(): Promise<void> {
  await Promise.all(watching.map(({ ended }) => ended));
  await closeSockets();
}

export async function closeSockets(): Promise<void> {
  const closing = watching;
  watching = [];
  await Promise.all(
    closing.map(async ({ socket, ended }) => {
      ended.catch(() => {});
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    }),
  );
}
