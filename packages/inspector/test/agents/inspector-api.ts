import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentClient, connect } from '@batonjs/client';
import { type AgentServer, createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { listen } from '../../../../test/kit/listen.ts';
import { inspector } from '../../src/index.ts';
import type { InspectorOptions } from '../../src/options.ts';
import { closed, token } from '../inspected-servers.ts';
import { showAgent } from '../show-agent.ts';

/** A JSON object of the API. */
export type Json = Record<string, never>;

/** The servers `show` (with its store) and `far` (by its address), and an inspector of both. */
export async function serve(options: Partial<InspectorOptions> = {}) {
  const started = (name: string, more: object = {}) =>
    closedAfterTest(
      createAgentServer({
        ...showAgent(async () => {}),
        name,
        store: memoryStore(),
        logger: () => {},
        push: { allow: ['127.0.0.1:*'], retry: { maxAttempts: 1, baseDelayMs: 1 } },
        ...more,
      }),
    );
  const hooks: string[] = [];
  const outside = await listen((request, response) => {
    hooks.push(request.url!);
    response.writeHead(request.url === '/file' ? 200 : 500, { 'content-type': 'text/csv' }).end('a,b');
  });
  const [show, far] = [
    started('show', { publicUrl: 'http://show.localhost', callbacks: true }),
    started('far'),
  ];
  const farUrl = await listen(nodeHandler(far));
  const handler = inspector({
    agents: [{ server: show }, { name: 'far', url: farUrl }, { name: 'kept', store: memoryStore() }],
    token,
    ...options,
  });
  onTestFinished(() => handler.close());
  const http = createServer((request, response) => handler(request, response)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => closed(http));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = async (
    path: string,
    body?: object,
  ): Promise<{ status: number; json: Json; message?: string }> => {
    const response = await fetch(
      `${url}/api${path}`,
      body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
    );
    const json = await response.json();
    return { status: response.status, json, message: json.problem?.message };
  };
  /** Reads a feed until a line of it is enough. */
  const feed = async (path: string, isEnough: (line: Json) => boolean): Promise<Json[]> => {
    const leaving = new AbortController();
    const response = await fetch(`${url}/api${path}`, { headers, signal: leaving.signal });
    const lines: Json[] = [];
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true });
      const whole = text.split('\n');
      text = whole.pop()!;
      for (const line of whole) if (line) lines.push(JSON.parse(line));
      if (lines.some(isEnough)) break;
    }
    leaving.abort();
    return lines;
  };
  const clientOf = (server: AgentServer): Promise<AgentClient> =>
    connect('http://localhost', { fetch: (request) => server.fetch(request) });
  return {
    call,
    feed,
    show,
    far,
    farUrl,
    outside,
    hooks,
    url,
    headers,
    near: await clientOf(show),
    away: await clientOf(far),
  };
}
