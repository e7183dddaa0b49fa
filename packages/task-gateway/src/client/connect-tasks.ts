import type { GatewayTask, GatewayTransition, TaskUpdate } from '../tasks/gateway-task.ts';
import { type CallSettings, call, pathOf, pause, TaskError } from './task-error.ts';
import { Dropped, type SocketLike, UpdateConnection } from './update-connection.ts';

/** A task to submit. */
export interface NewTask extends Pick<GatewayTask, 'type' | 'data'> {
  /** Default: a random id. Submit it again to get the same task. */
  readonly taskId?: string;
}

/** A client of a task gateway. Calls reject with a `TaskError`. */
export interface TaskClient {
  /** Creates a task. It is created once, also when the client had to send it again. */
  submit(task: NewTask): Promise<GatewayTask>;
  get(taskId: string): Promise<GatewayTask>;
  /**
   * The updates of a task until it ends, each one once and in order. Goes on by itself after a dropped connection, and
   * polls where WebSockets are not possible.
   */
  watch(taskId: string, options?: WatchOptions): AsyncGenerator<TaskUpdate, void, void>;
  cancel(taskId: string): Promise<GatewayTask>;
  /** Answers the form of a task. With `formId`, only that form. */
  answer(taskId: string, values: GatewayTask['data'], formId?: string): Promise<GatewayTask>;
  /** Closes the WebSocket. Watches end with `NETWORK`. */
  close(): void;
}

/** Options of `connectTasks`. */
export interface ConnectTasksOptions {
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Headers of every request, for credentials. Browsers send none with a WebSocket: see `query` and `openSocket`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Parameters of the WebSocket's URL, such as a token or `batchMs`. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Opens a WebSocket; `false`: only poll. Default: the global `WebSocket`. */
  readonly openSocket?: ((url: string) => SocketLike) | false | undefined;
  /** Milliseconds without contact after which calls and watches fail with `NETWORK`. Default 60,000. */
  readonly retryForMs?: number | undefined;
}

/** Makes a client of the gateway at a URL. Sends nothing yet. Works in Node.js and in browsers. */
export function connectTasks(url: string | URL, options: ConnectTasksOptions = {}): TaskClient {
  const {
    fetch = (request) => globalThis.fetch(request),
    headers = {},
    query = {},
    openSocket = (address: string) => new WebSocket(address),
    retryForMs = 60_000,
  } = options;
  const settings: CallSettings = { url: String(url).replace(/(?<!\/)\/+$/, ''), fetch, headers, retryForMs };
  const watches = new Watches(settings, query, openSocket);

  return {
    submit: ({ taskId = newId(), type, data }) => call(settings, '/task', { body: { taskId, type, data } }),
    get: (taskId) => call(settings, pathOf(taskId)),
    watch: (taskId, options = {}) => watches.watch(taskId, options),
    cancel: (taskId) => call(settings, `${pathOf(taskId)}/cancel`, { isPost: true }),
    answer: (taskId, values, formId) =>
      call(settings, `${pathOf(taskId)}/input`, {
        body: { values, ...(formId !== undefined && { formId }) },
      }),
    close: () => watches.close(),
  };
}

/** A random id of 128 bits. `crypto.randomUUID` does not exist on pages without TLS. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

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
class Watches {
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
