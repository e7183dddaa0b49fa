import type { ClientTransport } from '@batonjs/bindings';
import { durationText } from '../flags/duration.ts';

/** How requests leave this process. */
export interface WireOptions {
  /** Added to the query of every request to one of `origins`. */
  readonly query: Readonly<Record<string, string>>;
  readonly origins: ReadonlySet<string>;
  /** Sends the request; the global `fetch`, or one with certificates. */
  readonly send: (request: Request) => Promise<Response>;
  /** Sees every message on the wire; undefined: not needed. */
  readonly trace: ((line: string) => void) | undefined;
}

const sensitive = /^(authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/i;

/** A `fetch` that adds API keys to queries, and shows each request and response. */
export const wireFetch =
  ({ query, origins, send, trace }: WireOptions): ((request: Request) => Promise<Response>) =>
  async (given) => {
    const request = withQuery(given, query, origins);
    if (!trace) return send(request);
    const began = performance.now();
    trace(`> ${request.method} ${request.url}`);
    for (const line of headerLines(request.headers, '>')) trace(line);
    if (request.body) trace(`> ${await request.clone().text()}`);
    const response = await send(request);
    trace(`< ${response.status} after ${durationText(Math.ceil(performance.now() - began))}`);
    for (const line of headerLines(response.headers, '<')) trace(line);
    return response.body ? traced(response, trace) : response;
  };

const headerLines = (headers: Iterable<[string, string]>, mark: string): string[] =>
  Array.from(headers).map(
    ([name, value]) => `${mark} ${name}: ${sensitive.test(name) ? '[redacted]' : value}`,
  );

function withQuery(request: Request, query: WireOptions['query'], origins: WireOptions['origins']): Request {
  const url = new URL(request.url);
  if (Object.keys(query).length === 0 || !origins.has(url.origin)) return request;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return new Request(url, request);
}

function traced(response: Response, trace: (line: string) => void): Response {
  const decoder = new TextDecoder();
  const watched = response.body!.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const text = decoder.decode(chunk, { stream: true }).trimEnd();
        if (text) for (const line of text.split('\n')) trace(`< ${line}`);
        controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(watched, { status, statusText, headers });
}

/** The same for a binding that carries calls itself, such as gRPC. */
export function tracedTransport(
  transport: ClientTransport,
  trace: ((line: string) => void) | undefined,
): ClientTransport {
  if (!trace) return transport;
  const sent = (kind: string, call: { operation: string; params: unknown }, headers: object) => {
    trace(`> ${kind} ${call.operation}`);
    for (const line of headerLines(Object.entries(headers), '>')) trace(line);
    trace(`> ${JSON.stringify(call.params)}`);
  };
  return {
    ...transport,
    async call(call, request) {
      sent(transport.name, call, request.headers);
      const reply = await transport.call(call, request);
      trace(`< ${JSON.stringify(reply)}`);
      return reply;
    },
    async *stream(call, request) {
      sent(transport.name, call, request.headers);
      for await (const event of transport.stream(call, request)) {
        trace(`< ${JSON.stringify(event.event)}`);
        yield event;
      }
    },
  };
}
