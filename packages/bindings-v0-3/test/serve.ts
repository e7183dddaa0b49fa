import { type AgentServer, type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { type V03Options, v03 } from '../src/index.ts';

/** A server of both versions, until the test ends. */
export function serve(
  options: Pick<AgentServerOptions, 'agent'> & Partial<AgentServerOptions>,
  older: V03Options = {},
) {
  return closedAfterTest(
    createAgentServer({
      card: { name: 'Both', description: 'Speaks two versions' },
      store: memoryStore(),
      logger: () => {},
      compatibility: [v03(older)],
      ...options,
    }),
  );
}

/** What a POST of JSON text is answered with. */
export async function post(
  server: Pick<AgentServer, 'fetch'>,
  body: string,
  headers: Record<string, string> = {},
  path = '/',
): Promise<Response> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  return server.fetch(new Request(`http://localhost${path}`, request));
}

let calls = 0;

/** What a method of 0.3 is answered with: the whole envelope. */
export async function ask(
  server: Pick<AgentServer, 'fetch'>,
  method: string,
  params?: unknown,
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests read results with matchers
): Promise<any> {
  calls += 1;
  const reply = await post(server, JSON.stringify({ jsonrpc: '2.0', id: calls, method, params }), headers);
  return reply.json();
}

/** The envelopes of all events that a method of 0.3 is answered with. */
export async function listen(
  server: Pick<AgentServer, 'fetch'>,
  method: string,
  params: unknown,
  onOpen: () => void = () => {},
  // biome-ignore lint/suspicious/noExplicitAny: tests read events with matchers
): Promise<any[]> {
  const reply = await post(server, JSON.stringify({ jsonrpc: '2.0', id: 'stream', method, params }));
  if (reply.headers.get('content-type') !== 'text/event-stream') throw new Error('That is no stream');
  onOpen();
  const text = await reply.text();
  return Array.from(text.matchAll(/^data: (.*)$/gm), ([, data]) => JSON.parse(data!));
}

let messages = 0;

/** A message of 0.3. */
export const say = (text: string, more: object = {}) => ({
  kind: 'message',
  messageId: `m-${++messages}`,
  role: 'user',
  parts: [{ kind: 'text', text }],
  ...more,
});
