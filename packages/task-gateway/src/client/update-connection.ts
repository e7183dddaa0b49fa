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

/** One WebSocket with the updates of any number of tasks. */
export class UpdateConnection {
  readonly #socket: SocketLike;
  readonly #onDrop: () => void;
  readonly #queues = new Map<string, Set<UpdateQueue>>();
  /** Whether it still carries updates. */
  isOpen = true;

  constructor(socket: SocketLike, onDrop: () => void) {
    this.#socket = socket;
    this.#onDrop = onDrop;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))));
    socket.addEventListener('close', () => this.#drop());
  }

  /**
   * Resolves when the socket is open; rejects with `Dropped` if it does not open. `onDrop` is called when it carries no
   * updates any more, before its watches fail.
   */
  static open(socket: SocketLike, onDrop: () => void): Promise<UpdateConnection> {
    return new Promise((resolve, reject) => {
      socket.addEventListener('open', () => resolve(new UpdateConnection(socket, onDrop)));
      socket.addEventListener('error', () => reject(new Dropped('No WebSocket')));
      socket.addEventListener('close', () => reject(new Dropped('No WebSocket')));
    });
  }

  watch(taskId: string, after: number | undefined): UpdateQueue {
    const queue = new UpdateQueue(after);
    const queues = this.#queues.get(taskId) ?? new Set();
    this.#queues.set(taskId, queues.add(queue));
    // The gateway has one subscription per task and socket. Each queue drops the updates that it has already.
    const known = [...queues].flatMap((each) => each.after ?? []);
    const from = known.length > 0 ? Math.min(...known) : undefined;
    this.#socket.send(
      JSON.stringify({ event: 'subscribe', taskId, ...(from !== undefined && { after: from }) }),
    );
    return queue;
  }

  end(taskId: string, queue: UpdateQueue): void {
    const queues = this.#queues.get(taskId);
    if (!queues?.delete(queue) || queues.size > 0) return;
    this.#queues.delete(taskId);
    if (this.isOpen) this.#socket.send(JSON.stringify({ event: 'unsubscribe', taskId }));
  }

  close(): void {
    this.#socket.close();
    this.#drop();
  }

  #receive(frame: Frame): void {
    if (frame.event === 'task_updates') {
      for (const update of frame.updates) this.#receive(update);
      return;
    }
    for (const queue of this.#queues.get(frame.taskId ?? '') ?? []) {
      if (frame.event === 'task_update') queue.push(frame);
      else if (frame.event === 'error') queue.fail(new TaskError(frame.error.code, frame.error.message));
    }
  }

  #drop(): void {
    this.isOpen = false;
    this.#onDrop();
    for (const queues of this.#queues.values())
      for (const queue of queues) queue.fail(new Dropped('Dropped'));
    this.#queues.clear();
  }
}
