import { type ConnectTasksOptions, connectTasks, type TaskClient } from '@batonjs/task-gateway/client';
import { onTestFinished } from 'vitest';
import type { SocketLike } from '../../src/client/update-connection.ts';

/** A request as the gateway gets it. */
export interface Asked {
  readonly call: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
}

/** An answer: JSON, a status with JSON, or an error of the network. */
type Answer = object | [status: number, value: unknown] | Error;

/** The network of a client: it notes requests, and answers each call in turn; the last answer again and again. */
export function network(
  answers: Readonly<Record<string, readonly Answer[]>>,
  options: ConnectTasksOptions = {},
) {
  const asked: Asked[] = [];
  const left = Object.fromEntries(Object.entries(answers).map(([call, all]) => [call, [...all]]));
  const fetch = async (request: Request): Promise<Response> => {
    const call = `${request.method} ${request.url.replace('http://gateway.example/base', '')}`;
    const text = await request.text();
    const headers = Object.fromEntries(request.headers);
    asked.push({ call, headers, body: text && JSON.parse(text), signal: request.signal });
    const all = left[call];
    if (!all) throw new Error(`Nothing answers ${call}`);
    const answer = all.length > 1 ? all.shift()! : all[0]!;
    if (answer instanceof Error) throw answer;
    const [status, value] = Array.isArray(answer) ? answer : [200, answer];
    return typeof value === 'string' ? new Response(value, { status }) : Response.json(value, { status });
  };
  const client: TaskClient = connectTasks('http://gateway.example/base///', {
    fetch,
    openSocket: false,
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, asked, calls: () => asked.map(({ call }) => call) };
}

/** A WebSocket of a client, played by the test. */
export class PlayedSocket {
  readonly url: string;
  readonly sent: unknown[] = [];
  readyState = 0;
  isClosed = false;
  readonly #listeners: [string, (event: never) => void][] = [];

  constructor(url = '') {
    this.url = url;
  }

  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.push([type, listener]);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  /** What the network does: `open`, `close`, `error`, or a frame that arrives. */
  happen(type: 'open' | 'close' | 'error'): void;
  happen(type: 'message', frame: object): void;
  happen(type: string, frame?: object): void {
    for (const [name, listener] of [...this.#listeners])
      if (name === type) listener({ data: JSON.stringify(frame) } as never);
  }

  get like(): SocketLike {
    return this as unknown as SocketLike;
  }
}
