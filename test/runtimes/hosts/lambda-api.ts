import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** How an invocation ended. */
interface Outcome {
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Passes on a response that streams: its status and headers come first, then eight zeros, then the body. */
async function passOn(from: IncomingMessage, to: ServerResponse): Promise<void> {
  let prelude: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of from as AsyncIterable<Buffer>) {
    if (!prelude) {
      to.write(chunk);
      continue;
    }
    prelude = Buffer.concat([prelude, chunk]);
    const end = prelude.indexOf(Buffer.alloc(8));
    if (end < 0) continue;
    const { statusCode, headers } = JSON.parse(prelude.subarray(0, end).toString());
    to.writeHead(statusCode, headers).flushHeaders();
    to.write(prelude.subarray(end + 8));
    prelude = undefined;
  }
  to.end();
}

/**
 * The Runtime API of AWS Lambda, and a function URL in the mode RESPONSE_STREAM, until the test ends: gives events to
 * the process that asks for the next one, and hears what became of them.
 */
export async function lambdaApi() {
  const asking: ServerResponse[] = [];
  const waiting: { id: string; event: unknown; deadline: number }[] = [];
  const ends = new Map<string, (outcome: Outcome) => void>();
  /** Who waits for the responses of invocations that came over the function URL. */
  const clients = new Map<string, ServerResponse>();
  let invocations = 0;

  function hand(): void {
    const [next, response] = [waiting[0], asking[0]];
    if (!next || !response) return;
    waiting.shift();
    asking.shift();
    response.setHeader('Lambda-Runtime-Aws-Request-Id', next.id);
    response.setHeader('Lambda-Runtime-Deadline-Ms', next.deadline);
    response.end(JSON.stringify(next.event));
  }

  const http = createServer(async (request, response) => {
    const [, id = '', what = ''] = /invocation\/([^/]+)\/?(\w*)$/.exec(request.url ?? '') ?? [];
    if (id === 'next') {
      asking.push(response);
      return hand();
    }
    const client = clients.get(id);
    if (client && request.headers['lambda-runtime-function-response-mode'] === 'streaming') {
      // A function that ends in the middle ends the response in the middle.
      await passOn(request, client).catch(() => client.destroy());
      ends.get(id)?.({});
      return void response.writeHead(202).end();
    }
    const text = Buffer.concat(await request.toArray()).toString();
    ends.get(id)?.(what === 'response' ? { result: JSON.parse(text) } : { error: JSON.parse(text) });
    response.writeHead(202).end();
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close().closeAllConnections());

  function invoke(event: unknown, ms: number, client?: ServerResponse): Promise<Outcome> {
    const id = `invocation-${++invocations}`;
    const ended = new Promise<Outcome>((resolve) => ends.set(id, resolve));
    if (client) clients.set(id, client);
    waiting.push({ id, event, deadline: Date.now() + ms });
    hand();
    return ended;
  }

  const front = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
    const { host = '', cookie, ...headers } = request.headers;
    const body = Buffer.concat(await request.toArray());
    const event = {
      version: '2.0',
      routeKey: '$default',
      rawPath: pathname,
      rawQueryString: search.slice(1),
      ...(cookie && { cookies: cookie.split('; ') }),
      headers: { ...headers, host },
      requestContext: { domainName: host, http: { method: request.method, path: pathname } },
      ...(body.length > 0 && { body: body.toString('base64') }),
      isBase64Encoded: body.length > 0,
    };
    const { error } = await invoke(event, 30_000, response);
    if (error) response.writeHead(502).end();
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  onTestFinished(() => void front.close().closeAllConnections());
  return {
    address: `127.0.0.1:${(http.address() as AddressInfo).port}`,
    /** The function URL. A client that leaves does not end its invocation. */
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    /** Resolves to how it ended. */
    invoke: (event: unknown, ms = 30_000) => invoke(event, ms),
  };
}
