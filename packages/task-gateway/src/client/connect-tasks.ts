import type { GatewayTask, GatewayTransition, TaskUpdate } from '../tasks/gateway-task.ts';
import { type CallSettings, call, pathOf, pause, TaskError } from './task-error.ts';
import { Dropped, openConnection, type SocketLike, type UpdateConnection } from './update-connection.ts';

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
  const watches = watchesOf(settings, query, openSocket);

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
function watchesOf(
  settings: CallSettings,
  query: Readonly<Record<string, string>>,
  openSocket: ((url: string) => SocketLike) | false,
) {
  let connection: Promise<UpdateConnection> | undefined;
  let isClosed = false;
  let noSocketUntil = openSocket === false ? Number.POSITIVE_INFINITY : 0;

  async function* watch(
    taskId: string,
    { after, signal }: WatchOptions,
  ): AsyncGenerator<TaskUpdate, void, void> {
    let last = after;
    while (!isClosed) {
      for await (const update of overSocket(taskId, last, signal)) {
        last = update.sequence;
        yield update;
        if (isFinal(update)) return;
      }
      if (isClosed) break;
      if (performance.now() >= noSocketUntil) {
        // Says whether the gateway is there, with backoff until it is.
        await call(settings, pathOf(taskId), signal && { signal });
        await pause(100 * Math.random());
        continue;
      }
      for (const update of await poll(taskId, last, signal)) {
        last = update.sequence;
        yield update;
        if (isFinal(update)) return;
      }
    }
    throw new TaskError('NETWORK', 'The client was closed');
  }

  /** Closes the WebSocket. Watches end with `NETWORK`. */
  function close(): void {
    isClosed = true;
    void connection?.then((open) => open.close()).catch(() => {});
  }

  /** The connection that all watches share; undefined where a WebSocket is not possible now. */
  async function connected(): Promise<UpdateConnection | undefined> {
    if (openSocket === false || performance.now() < noSocketUntil) return undefined;
    const parameters = String(new URLSearchParams(query));
    const address = `${settings.url.replace(/^http/, 'ws')}/task/updates${parameters && `?${parameters}`}`;
    const forget = () => {
      connection = undefined;
    };
    connection ??= new Promise((resolve) => resolve(openConnection(openSocket(address), forget)));
    const opened = await connection.catch(() => undefined);
    if (opened?.isOpen()) return opened;
    if (!opened) {
      forget();
      noSocketUntil = performance.now() + retrySocketMs;
    }
    return undefined;
  }

  async function* overSocket(taskId: string, after: number | undefined, signal?: AbortSignal) {
    const open = await connected();
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
  async function poll(taskId: string, last: number | undefined, signal: AbortSignal | undefined) {
    const read = <T>(path: string) => call<T>(settings, `${pathOf(taskId)}${path}`, signal && { signal });
    const event = 'task_update' as const;
    const wait = last === undefined ? '' : `?after=${last}&wait=${pollSeconds}`;
    const { type, data, ...task } = await read<GatewayTask>(wait);
    if (last === undefined) return [{ ...task, event }];
    if (task.sequence <= last) return [];
    const { transitions } = await read<{ transitions: readonly GatewayTransition[] }>(
      `/history?after=${last}`,
    );
    return transitions.map(({ time, message, ...update }) => ({ event, taskId, ...update }));
  }

  return { watch, close };
}

const isFinal = ({ status }: Pick<TaskUpdate, 'status'>): boolean =>
  status !== 'created' && status !== 'in_progress';
