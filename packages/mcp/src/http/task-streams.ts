import type { AgentClient } from '@batonjs/client';
import { sleep } from '@batonjs/protocol/timing';
import {
  ProtocolError,
  ProtocolErrorCode,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server';
import { type ListenRequest, notifyOfTasks, readListen } from '../server/task-methods.ts';
import { errorOf, type TaskRequests, taskFailure } from '../tasks/task-requests.ts';
import type { McpCaller } from './sessions.ts';

/** How many streams there are at once, of all callers and of one. */
const most = { all: 1_024, ofCaller: 128 };

/** Milliseconds between two comments, by which proxies see that a stream is alive. */
const keepAliveMs = 15_000;

/** Milliseconds in which a stream that the server ends can give its client the result. */
const flushMs = 1_000;

/** A stream that runs. */
interface Running {
  readonly caller: string;
  /** Ends it with its result, as a server does that closes. */
  end(): Promise<void>;
}

/**
 * The streams of `subscriptions/listen` that tell of tasks. The router of the SDK knows no tasks: it checks such a
 * request like any other and then ends its stream, and this one takes its place.
 */
export class TaskStreams {
  readonly #requests: TaskRequests;
  readonly #running = new Set<Running>();

  constructor(requests: TaskRequests) {
    this.#requests = requests;
  }

  /** The stream that a request asks for. `checked` is what the SDK answered, and is returned where it is a refusal. */
  async answer(
    request: Request,
    body: unknown,
    { caller, agent }: McpCaller,
    checked: () => Promise<Response>,
  ): Promise<Response> {
    let listen: ListenRequest | undefined;
    let refused: unknown;
    try {
      listen = readListen(body);
    } catch (error) {
      refused = error;
    }
    const response = await checked();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (!isStream || (!listen && refused === undefined)) return response;
    await response.body?.cancel();
    const id = Object(body).id as string | number;
    if (!listen) return errorReply(id, taskFailure(refused, this.#requests.onError));
    const ofCaller = [...this.#running].filter((each) => each.caller === caller).length;
    if (this.#running.size >= most.all || ofCaller >= most.ofCaller)
      return errorReply(id, new ProtocolError(ProtocolErrorCode.InternalError, 'Subscription limit reached'));
    return new Response(this.#start(request, listen, { caller, agent }), response);
  }

  /** Ends all streams with their results. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map(({ end }) => end()));
  }

  #start(request: Request, { id, taskIds, client }: ListenRequest, { caller, agent }: McpCaller) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    const write = (text: string) => writer.write(encoder.encode(text));
    const send = (message: object) => write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    const stop = new AbortController();
    const requests = this.#requests;
    const signal = AbortSignal.any([stop.signal, request.signal]);
    const keepAlive = setInterval(() => void write(': keepalive\n\n').catch(() => {}), keepAliveMs);
    // A client that left, or the end of the stream.
    const closed = writer.closed.catch(() => {});
    void closed.then(() => stop.abort());

    let isEnding = false;
    /** A client that does not read leaves the last message in the stream: it is not waited for. */
    const end = (message: object) => {
      if (isEnding) return;
      isEnding = true;
      clearInterval(keepAlive);
      this.#running.delete(running);
      send(message).catch(() => {});
      writer.close().catch(() => {});
      stop.abort();
    };
    const running: Running = {
      caller,
      async end() {
        end(resultOf(id, agent));
        const over = new AbortController();
        await Promise.race([closed, sleep(flushMs, over.signal)]);
        over.abort();
      },
    };
    this.#running.add(running);
    notifyOfTasks({ id, taskIds, agent, client, requests, signal, send }).then(
      () => end(resultOf(id, agent)),
      (error) => {
        const isLeft = signal.aborted;
        end({
          jsonrpc: '2.0',
          id,
          error: isLeft ? clientLeft : errorOf(taskFailure(error, requests.onError)),
        });
      },
    );
    return readable;
  }
}

/** It is never read: the stream is closed. */
const clientLeft = { code: ProtocolErrorCode.InternalError, message: 'The client left' };

/** The empty result with which a stream ends in good order. */
const resultOf = (id: string | number, { card: { name, version } }: AgentClient) => ({
  jsonrpc: '2.0',
  id,
  result: {
    resultType: 'complete',
    _meta: { [SUBSCRIPTION_ID_META_KEY]: id, [SERVER_INFO_META_KEY]: { name, version: version || '0.0.0' } },
  },
});

/** A missing capability is answered 400, as the SDK does. */
const errorReply = (id: string | number, error: ProtocolError): Response =>
  Response.json(
    { jsonrpc: '2.0', id, error: errorOf(error) },
    { status: error.code === ProtocolErrorCode.MissingRequiredClientCapability ? 400 : 200 },
  );
