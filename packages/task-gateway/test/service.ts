import { createServer, type RequestListener, type Server } from 'node:http';
import { nodeHandler } from '@batonjs/server-node';
import { createTaskGateway, type TaskGateway, type TaskGatewayOptions } from '@batonjs/task-gateway';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';

/** An answer of the service: its status, headers and JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly body: any;
}

/** A task service over real HTTP, until the test ends. */
export interface Service {
  readonly url: string;
  readonly gateway: TaskGateway;
  readonly listener: Server;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Waits until the task is not `created` or `in_progress`. */
  ended(taskId: string): Promise<Answer['body']>;
  /** Waits until the task has what `find` finds. */
  until(taskId: string, find: (task: Answer['body']) => unknown): Promise<Answer['body']>;
}

export async function serveTasks(
  options: TaskGatewayOptions,
  mount: (gateway: TaskGateway) => RequestListener = (gateway) => nodeHandler(gateway),
): Promise<Service> {
  const gateway = closedAfterTest(createTaskGateway({ logger: () => {}, ...options }));
  const listener = createServer(mount(gateway));
  gateway.attach(listener);
  const url = await listen(listener);
  const call = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  };
  const get: Service['get'] = (path, headers = {}) => call(path, { headers });
  const until: Service['until'] = async (taskId, find) => {
    for (let after = 0; ; ) {
      const { body } = await get(`/task/${encodeURIComponent(taskId)}?after=${after}&wait=30`);
      if (find(body)) return body;
      if (!['created', 'in_progress'].includes(body.status)) throw new Error(JSON.stringify(body));
      after = body.sequence;
    }
  };
  return {
    url,
    gateway,
    listener,
    get,
    post: (path, body, headers = {}) =>
      call(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    ended: (taskId) => until(taskId, ({ status }) => ['completed', 'failed', 'canceled'].includes(status)),
    until,
  };
}
