import type { GatewayError, TaskUpdate } from '../tasks/gateway-task.ts';
import { TaskError } from './task-error.ts';

/** What the client needs of a WebSocket: that of browsers and of Node.js have it. */
export type SocketLike = Pick<WebSocket, 'addEventListener' | 'send' | 'close' | 'readyState'>;

/** The updates of one task, for one watch. */
export class UpdateQueue {
  after: number | undefined;
  readonly #updates: TaskUpdate[] = [];
  #changed = Promise.withResolvers<void>();
  #failure: unknown;

  constructor(after: number | undefined) {
    this.after = after;
  }

  push(update: TaskUpdate): void {
    if (this.after !== undefined && update.sequence <= this.after) return;
    this.after = update.sequence;
    this.#updates.push(update);
    this.#changed.resolve();
  }

  fail(error: unknown): void {
    this.#failure ??= error;
    this.#changed.resolve();
  }

  /** The next update. Rejects once the queue failed and all updates before that were taken. */
  async next(): Promise<TaskUpdate> {
    for (;;) {
      const update = this.#updates.shift();
      if (update) return update;
      if (this.#failure) throw this.#failure;
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
  }
}

/** What the gateway sends to a client that only subscribes. */
type Frame =
  | TaskUpdate
  | { readonly event: 'task_updates'; readonly updates: readonly TaskUpdate[] }
  | { readonly event: 'error'; readonly taskId?: string; readonly error: GatewayError };

/** The reason why the queues of a connection end with it. */
export class Dropped extends Error {}

export type UpdateConnection = ReturnType<typeof connectionOf>;

/**
 * Resolves when the socket is open; rejects with `Dropped` if it does not open. `onDrop` is called when it carries no
 * updates any more, before its watches fail.
 */
export const openConnection = (socket: SocketLike, onDrop: () => void): Promise<UpdateConnection> =>
  new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(connectionOf(socket, onDrop)));
    for (const event of ['error', 'close'] as const)
      socket.addEventListener(event, () => reject(new Dropped('No WebSocket')));
  });

/** One WebSocket with the updates of any number of tasks. */
function connectionOf(socket: SocketLike, onDrop: () => void) {
  const queuesOf = new Map<string, Set<UpdateQueue>>();
  let isOpen = true;
  socket.addEventListener('message', ({ data }) => receive(JSON.parse(String(data))));
  socket.addEventListener('close', () => drop());

  function watch(taskId: string, after: number | undefined): UpdateQueue {
    const queue = new UpdateQueue(after);
    const queues = queuesOf.get(taskId) ?? new Set();
    queuesOf.set(taskId, queues.add(queue));
    // The gateway has one subscription per task and socket. Each queue drops the updates that it has already.
    const known = [...queues].flatMap((each) => each.after ?? []);
    const from = known.length > 0 ? Math.min(...known) : undefined;
    socket.send(JSON.stringify({ event: 'subscribe', taskId, ...(from !== undefined && { after: from }) }));
    return queue;
  }

  function end(taskId: string, queue: UpdateQueue): void {
    const queues = queuesOf.get(taskId);
    if (!queues?.delete(queue) || queues.size > 0) return;
    queuesOf.delete(taskId);
    if (isOpen) socket.send(JSON.stringify({ event: 'unsubscribe', taskId }));
  }

  function close(): void {
    socket.close();
    drop();
  }

  function receive(frame: Frame): void {
    if (frame.event === 'task_updates') {
      for (const update of frame.updates) receive(update);
      return;
    }
    for (const queue of queuesOf.get(frame.taskId ?? '') ?? []) {
      if (frame.event === 'task_update') queue.push(frame);
      else if (frame.event === 'error') queue.fail(new TaskError(frame.error.code, frame.error.message));
    }
  }

  function drop(): void {
    isOpen = false;
    onDrop();
    for (const queues of queuesOf.values()) for (const queue of queues) queue.fail(new Dropped('Dropped'));
    queuesOf.clear();
  }

  return { watch, end, close, isOpen: () => isOpen };
}
