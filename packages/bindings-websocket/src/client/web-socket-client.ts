import type { Call, ClientTransport, TransportRequest } from '@batonjs/bindings';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { type OptionsOf, withDefaults } from '@batonjs/protocol/options';
import { unlessAborted } from '@batonjs/protocol/timing';
import { isAlias, WEBSOCKET_BINDING } from '../wire/binding-name.ts';
import { type Answers, EventQueue, SingleAnswer } from './answers.ts';
import { Connection } from './connection.ts';
import type { SocketTls } from './socket.ts';

/** The options of `webSocketClient`, with their defaults. All times in milliseconds. */
const clientOptions = {
  /** How long the upgrade may take. Default 10,000. */
  openMs: 10_000,
  /** How long an agent may say nothing, while calls wait, before it is asked whether it is there. Default 30,000. */
  probeMs: 30_000,
  /** How long the answer to that may take before the connection counts as broken. Default 10,000. */
  answerMs: 10_000,
  /** How long a connection without calls stays open. Default 30,000. */
  idleMs: 30_000,
  /** Certificates, in Node.js. Default: those that Node.js trusts. */
  tls: undefined as SocketTls | undefined,
  /** The most bytes of one message, in Node.js. Default 64 MiB; `connect` has limits per answer and per event. */
  maxMessageBytes: 67_108_864,
};

/** What `webSocketClient` takes. All times in milliseconds. */
export type WebSocketClientOptions = OptionsOf<typeof clientOptions>;

/** The client half of the binding. */
export interface WebSocketClient extends ClientTransport {
  /** Closes the connections. Calls that are under way fail. */
  close(): void;
}

/**
 * The WebSocket binding of a client: `connect(url, { bindings: [webSocketClient()] })`. All calls with the same credentials
 * share a connection. In Node.js it keeps no process alive when no call is under way. Spec: §12.
 */
export function webSocketClient(options: WebSocketClientOptions = {}): WebSocketClient {
  const { maxMessageBytes: maxBytes, ...settings } = withDefaults(clientOptions, options);
  const connections = new Map<string, Promise<Connection>>();

  async function connectionFor(request: TransportRequest): Promise<Connection> {
    for (;;) {
      const connection = await opened(request);
      if (connection.isOpen) return connection;
      // The other side has begun to close it.
      connection.close();
    }
  }

  function opened({ url: address, headers: all }: TransportRequest): Promise<Connection> {
    const url = socketUrl(address)!.href;
    const headers = Object.fromEntries(Object.entries(all).filter(([name]) => !isServiceParam(name)));
    const key = JSON.stringify([url, headers]);
    const open = connections.get(key);
    if (open) return open;
    const onLeave = () => {
      if (connections.get(key) === opening) connections.delete(key);
    };
    const opening = Connection.open({ ...settings, url, headers, maxBytes, onLeave });
    connections.set(key, opening);
    opening.catch(onLeave);
    return opening;
  }

  /** Starts a call. The returned function leaves it. */
  async function start(call: Call, request: TransportRequest, answers: Answers): Promise<() => void> {
    const { signal } = request;
    const connection = await unlessAborted(connectionFor(request), signal);
    const serviceParams = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => isServiceParam(name)),
    );
    const { operation: method, params } = call;
    const id = connection.start(answers, (id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params, serviceParams }),
    );
    const abort = () => answers.fail(signal.reason);
    signal.addEventListener('abort', abort);
    return () => {
      signal.removeEventListener('abort', abort);
      connection.leave(id);
    };
  }

  return {
    name: WEBSOCKET_BINDING,
    version: PROTOCOL_VERSION,
    isAlias,
    mayHaveNulls: true,

    urlOf: (address) => socketUrl(address)?.href.replace(/^ws/, 'http'),

    async call(call, request) {
      const answer = new SingleAnswer(request.maxBytes);
      const leave = await start(call, request, answer);
      try {
        return await answer.result;
      } finally {
        leave();
      }
    },

    async *stream(call, request) {
      const { onOpen } = request;
      const queue = new EventQueue(request.maxBytes);
      const leave = await start(call, request, queue);
      let isOpen = false;
      try {
        for (let next = await queue.next(); next; next = await queue.next()) {
          if (!isOpen) onOpen?.();
          isOpen = true;
          yield next;
        }
      } finally {
        leave();
      }
    },

    close() {
      for (const opening of connections.values())
        opening.then((connection) => connection.close()).catch(() => {});
      connections.clear();
    },
  };
}

/** Headers that a call has of its own. All others are credentials, or may be, and belong to the connection. */
const serviceParams: ReadonlySet<string> = new Set([
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'last-event-id',
  'traceparent',
  'tracestate',
  'baggage',
]);

const isServiceParam = (name: string): boolean => serviceParams.has(name);

/** The URL of an address: `ws:`, `wss:`, `http:`, `https:`, or a host with port and path, which means `ws:`. */
function socketUrl(address: string): URL | undefined {
  const url = URL.parse(address.includes('://') ? address : `ws://${address}`);
  if (!url || !/^(?:ws|http)s?:/.test(url.protocol)) return undefined;
  // Credentials have no place in an address.
  if (url.username !== '' || url.password !== '') return undefined;
  const plain = new URL(url.href.replace(/^http/, 'ws'));
  plain.hash = '';
  return plain;
}
