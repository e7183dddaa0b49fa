import type { GatewayTask, TaskUpdate } from '../tasks/gateway-task.ts';
import { type CallSettings, call, pathOf } from './http-calls.ts';
import type { SocketLike } from './update-connection.ts';
import { Watches, type WatchOptions } from './watches.ts';

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
