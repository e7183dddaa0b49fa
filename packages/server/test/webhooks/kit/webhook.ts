import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { StreamResponse } from '@batonjs/protocol';
import { listen } from '../../../../../test/kit/listen.ts';
import { brief } from '../../../../../test/kit/rpc.ts';
import { eventually } from '../../../../../test/kit/until.ts';

/** One request that arrived at a webhook. */
export interface Received {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly event: StreamResponse;
}

/** What a webhook answers: a status, or a function that writes the response. */
export type Reaction = number | ((response: ServerResponse) => void);

/** A webhook on a real port of this machine. */
export interface Webhook {
  readonly port: number;
  /** Its URL with this path. */
  url(path?: string): string;
  /** All deliveries, in order, with those that were refused. */
  readonly received: readonly Received[];
  /** What arrived and was acknowledged with 200, briefly. */
  readonly acknowledged: readonly string[];
  /** Resolves when it has acknowledged so many. */
  until(count: number): Promise<void>;
}

/** A webhook until the test ends. `react` gets what arrived and how many came before. */
export async function webhook(react: (received: Received, before: number) => Reaction = () => 200) {
  const received: Received[] = [];
  const acknowledged: string[] = [];
  const origin = await listen(async (request, response) => {
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
  const hook: Webhook = {
    port: Number(new URL(origin).port),
    url: (path = '/hook') => origin + path,
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
