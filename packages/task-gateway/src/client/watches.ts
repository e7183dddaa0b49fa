import type { GatewayTask, GatewayTransition, TaskUpdate } from '../tasks/gateway-task.ts';
import { type CallSettings, call, pathOf, pause } from './http-calls.ts';
import { TaskError } from './task-error.ts';
import { Dropped, type SocketLike, UpdateConnection } from './update-connection.ts';

/** Where to begin and when to end a watch. */
export interface WatchOptions {
  /** Only updates after this `sequence`. Default: the task as it is, then its updates. */
  readonly after?: number | undefined;
  /** Ends the watch; the task goes on. */
  readonly signal?: AbortSignal | undefined;
}

/** Seconds of one long poll. */
const pollSeconds = 20;
/** How long the client polls before it tries a WebSocket again, in milliseconds. */
const retrySocketMs = 60_000;

/** The watches of a client, which share one WebSocket where that is possible. */
export class Watches {
  readonly #settings: CallSettings;
  readonly #query: Readonly<Record<string, string>>;
  readonly #openSocket: ((url: string) => SocketLike) | false;
  #connection: Promise<UpdateConnection> | undefined;
  #noSocketUntil: number;
  #isClosed = false;

  constructor(
    settings: CallSettings,
    query: Readonly<Record<string, string>>,
    openSocket: ((url: string) => SocketLike) | false,
  ) {
    this.#settings = settings;
    this.#query = query;
    this.#openSocket = openSocket;
    this.#noSocketUntil = openSocket === false ? Number.POSITIVE_INFINITY : 0;
  }

  async *watch(taskId: string, { after, signal }: WatchOptions): AsyncGenerator<TaskUpdate, void, void> {
    let last = after;
    while (!this.#isClosed) {
      for await (const update of this.#overSocket(taskId, last, signal)) {
        last = update.sequence;
        yield update;
        if (isFinal(update)) return;
      }
      if (this.#isClosed) break;
      if (performance.now() >= this.#noSocketUntil) {
        // Says whether the gateway is there, with backoff until it is.
        await call(this.#settings, pathOf(taskId), signal && { signal });
        await pause(100 * Math.random());
        continue;
      }
      for (const update of await this.#poll(taskId, last, signal)) {
        last = update.sequence;
        yield update;
        if (isFinal(update)) return;
      }
    }
    throw new TaskError('NETWORK', 'The client was closed');
  }

  /** Closes the WebSocket. Watches end with `NETWORK`. */
  close(): void {
    this.#isClosed = true;
    void this.#connection?.then((open) => open.close()).catch(() => {});
  }

  /** The connection that all watches share; undefined where a WebSocket is not possible now. */
  async #connected(): Promise<UpdateConnection | undefined> {
    const openSocket = this.#openSocket;
    if (openSocket === false || performance.now() < this.#noSocketUntil) return undefined;
    const parameters = String(new URLSearchParams(this.#query));
    const address = `${this.#settings.url.replace(/^http/, 'ws')}/task/updates${parameters && `?${parameters}`}`;
    const forget = () => {
      this.#connection = undefined;
    };
    this.#connection ??= new Promise((resolve) =>
      resolve(UpdateConnection.open(openSocket(address), forget)),
    );
    const opened = await this.#connection.catch(() => undefined);
    if (opened?.isOpen) return opened;
    if (!opened) {
      forget();
      this.#noSocketUntil = performance.now() + retrySocketMs;
    }
    return undefined;
  }

  async *#overSocket(taskId: string, after: number | undefined, signal?: AbortSignal) {
    const open = await this.#connected();
    if (!open) return;
    const queue = open.watch(taskId, after);
    const abort = () => queue.fail(signal?.reason);
    signal?.addEventListener('abort', abort);
    try {
      signal?.throwIfAborted();
      for (;;) yield await queue.next();
    } catch (error) {
      if (!(error instanceof Dropped)) throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
      open.end(taskId, queue);
    }
  }

  /** The task as it is now, or the updates after a sequence, each one, once there are some. */
  async #poll(taskId: string, last: number | undefined, signal: AbortSignal | undefined) {
    const read = <T>(path: string) =>
      call<T>(this.#settings, `${pathOf(taskId)}${path}`, signal && { signal });
    const wait = last === undefined ? '' : `?after=${last}&wait=${pollSeconds}`;
    const { type, data, ...task } = await read<GatewayTask>(wait);
    if (last === undefined) return [{ ...task, event: 'task_update' as const }];
    if (task.sequence <= last) return [];
    const { transitions } = await read<{ readonly transitions: readonly GatewayTransition[] }>(
      `/history?after=${last}`,
    );
    return transitions.map(({ time, message, ...update }) => ({
      event: 'task_update' as const,
      taskId,
      ...update,
    }));
  }
}

const isFinal = ({ status }: Pick<TaskUpdate, 'status'>): boolean =>
  status !== 'created' && status !== 'in_progress';
