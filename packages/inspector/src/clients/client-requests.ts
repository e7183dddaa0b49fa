import type { AgentServer } from '@batonjs/server';
import {
  insideOf,
  type WatchedBody,
  type WatchedRequest,
  type WatchedStart,
} from '@batonjs/server/internals';
import type { ClientExchange } from '../api/wire.ts';
import type { ClientRequestsOptions } from '../options.ts';
import { operationOf } from '../wire/operation-of.ts';
import { receivedHeaders, Secrets } from '../wire/secrets.ts';
import { curlOf, grpcurlOf } from '../wire/shell-line.ts';
import { WireLog } from '../wire/wire-log.ts';

/** An agent whose server runs in this process. */
export interface Watched {
  readonly id: string;
  readonly server: AgentServer;
  /** Where its clients reach it. */
  readonly url: string;
}

/** The latest requests of all clients to servers of this process, without secrets. */
export class ClientRequests {
  readonly log: WireLog<ClientExchange>;
  readonly #leave: readonly (() => void)[];

  /** Throws `TypeError` for bounds that are no numbers above 0. */
  constructor({ last = 500, bytes = 16_777_216 }: ClientRequestsOptions, agents: readonly Watched[]) {
    mustBeAbove0('last', last);
    mustBeAbove0('bytes', bytes);
    this.log = new WireLog({ exchanges: last, bytes });
    this.#leave = agents.flatMap(
      ({ server, id, url }) =>
        insideOf(server)?.watch.add((start) => watchedRequest(start, { id, url }, this.log)) ?? [],
    );
  }

  /** Looks at no further request, and forgets those that it saw. */
  close(): void {
    for (const leave of this.#leave) leave();
    this.log.clear();
  }
}

function mustBeAbove0(name: string, value: number): void {
  if (value > 0) return;
  throw new TypeError(`\`clientRequests.${name}\` must be a number above 0`);
}

/** Writes a request into the log while it is answered. */
function watchedRequest(
  start: WatchedStart,
  { id, url: known }: Pick<Watched, 'id' | 'url'>,
  log: WireLog<ClientExchange>,
): WatchedRequest {
  const began = performance.now();
  const secrets = new Secrets(start);
  const { method, baseUrl } = start;
  const exchange = log.add({
    agent: id,
    operation: operationOf(method, `http://agent${secrets.path(start.path)}`, undefined).operation,
    method,
    url: (baseUrl ?? known) + secrets.target(start),
    requestHeaders: secrets.headers(start.headers),
    shell: '',
  });
  return {
    named({ operation, binding, version }) {
      if (operation !== undefined) exchange.operation = operation;
      Object.assign(exchange, { binding, version });
      if (binding === 'GRPC')
        Object.assign(exchange, { method: `lf.a2a.v1.A2AService/${operation}`, url: baseUrl ?? known });
      log.changed(exchange);
    },
    calledBy(scope) {
      exchange.caller = scope ?? 'anonymous';
      log.changed(exchange);
    },
    sent: (body) => log.send(exchange, secrets.json(textOf(body))),
    answered(status, isError, headers) {
      exchange.firstMs = performance.now() - began;
      Object.assign(exchange, { status, isError, responseHeaders: receivedHeaders(Object.entries(headers)) });
      log.changed(exchange);
    },
    said: (text) => log.receive(exchange, isLines(exchange) ? secrets.lines(text) : secrets.json(text)),
    ended() {
      exchange.endMs = performance.now() - began;
      exchange.shell = shellOf(exchange);
      log.changed(exchange);
    },
  };
}

const isLines = ({ responseHeaders, binding }: ClientExchange): boolean =>
  /event-stream/.test(responseHeaders['content-type'] ?? '') ||
  (binding !== undefined && !/^(JSONRPC|HTTP\+JSON)$/.test(binding));

function textOf(body: WatchedBody): string {
  if ('value' in body) return JSON.stringify(body.value) ?? '';
  return new TextDecoder().decode(body.bytes);
}

/** Headers that another client sets itself. */
const ofConnection =
  /^(host|connection|content-length|content-encoding|user-agent|accept-.*|te|transfer-encoding|upgrade.*|sec-.*|grpc-.*|x-forwarded-.*|x-request-id|trace.*)$/;

/** A line for the shell; empty for a binding that no program of a shell speaks. */
function shellOf({ binding, method, url, requestHeaders, requestBody: body }: ClientExchange): string {
  const headers = Object.fromEntries(
    Object.entries(requestHeaders).filter(([name]) => !ofConnection.test(name)),
  );
  if (binding === 'GRPC') return grpcurlOf({ method, url, headers, body });
  return url.startsWith('http') ? curlOf({ method, url, headers, body }) : '';
}
