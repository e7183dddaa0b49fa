import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** How an invocation ended. */
interface Outcome {
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * The Runtime API of AWS Lambda, until the test ends: gives events to the process that asks for the next one, and hears what
 * became of them.
 */
export async function lambdaApi() {
  const asking: ServerResponse[] = [];
  const waiting: { id: string; event: unknown; deadline: number }[] = [];
  const ends = new Map<string, (outcome: Outcome) => void>();
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
    const text = Buffer.concat(await request.toArray()).toString();
    ends.get(id)?.(what === 'response' ? { result: JSON.parse(text) } : { error: JSON.parse(text) });
    response.writeHead(202).end();
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => void http.close().closeAllConnections());
  return {
    address: `127.0.0.1:${(http.address() as AddressInfo).port}`,
    /** Resolves to how it ended. */
    invoke(event: unknown, ms = 30_000): Promise<Outcome> {
      const id = `invocation-${++invocations}`;
      const ended = new Promise<Outcome>((resolve) => ends.set(id, resolve));
      waiting.push({ id, event, deadline: Date.now() + ms });
      hand();
      return ended;
    },
  };
}
