import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { StreamResponse } from '@batonjs/protocol';
import { onTestFinished, vi } from 'vitest';
import { brief } from '../../../../test/kit/rpc.ts';

/** One request that arrived at a webhook. */
export interface Received {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: StreamResponse;
}

/** Looks until it does not throw any more; a machine that has other things to do is given its time. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 30_000, interval: 5 });

/** What a webhook answers: a status, or whatever it does with the response. */
export type Reaction = number | ((response: ServerResponse) => void);

/** A webhook on a real port of this machine. */
export interface Webhook {
  readonly port: number;
  /** Its URL with this path. */
  url(path?: string): string;
  /** All that arrived, in order, whatever was answered. */
  readonly received: readonly Received[];
  /** What arrived and was acknowledged with 200, briefly. */
  readonly acknowledged: readonly string[];
  /** Resolves when it has acknowledged so many. */
  until(count: number): Promise<void>;
}

/** A webhook until the test ends. `react` is told what arrived and how many came before. */
export async function webhook(react: (received: Received, before: number) => Reaction = () => 200) {
  const received: Received[] = [];
  const acknowledged: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const { url = '', method = '', headers } = request;
    const event = JSON.parse(text) as StreamResponse;
    const got = { id: String(headers['webhook-id']), path: url, method, headers, text, event };
    const reaction = react(got, received.length);
    received.push(got);
    if (typeof reaction === 'function') return reaction(response);
    if (reaction === 200) acknowledged.push(brief(event));
    response.writeHead(reaction).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const { port } = server.address() as { port: number };
  const hook: Webhook = {
    port,
    url: (path = '/hook') => `http://127.0.0.1:${port}${path}`,
    received,
    acknowledged,
    async until(count) {
      await eventually(() => {
        if (acknowledged.length < count)
          throw new Error(`${acknowledged.length} of ${count}: ${acknowledged}`);
      });
    },
  };
  return hook;
}
