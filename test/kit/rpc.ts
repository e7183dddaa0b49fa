import type { Message, StreamResponse } from '@batonjs/protocol';
import type { AgentServer } from '@batonjs/server';

let ids = 0;

/** A message of a client. */
export const say = (content: string | Message['parts'], more: Partial<Message> = {}): Message => ({
  messageId: `m-${++ids}`,
  role: 'ROLE_USER',
  parts: typeof content === 'string' ? [{ text: content }] : content,
  ...more,
});

const post = (method: string, params: object, headers: Record<string, string>) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

/** Calls a server in this process over JSON-RPC; resolves to the result or rejects with the error of the wire. */
export async function rpc(
  server: Pick<AgentServer, 'fetch'>,
  method: string,
  params: object,
  headers: Record<string, string> = {},
  // biome-ignore lint/suspicious/noExplicitAny: tests read results with matchers
): Promise<any> {
  const response = await server.fetch(post(method, params, headers));
  const { result, error } = await response.json();
  if (error)
    throw Object.assign(new Error(error.message), {
      code: error.code,
      reason: error.data?.[0]?.reason,
      error,
    });
  return result;
}

/** One event of a stream with its position. */
export interface Seen {
  readonly id: string | undefined;
  readonly event: StreamResponse;
}

/** Streams from a server in this process. Leaving the loop leaves the stream. */
export async function* stream(
  server: Pick<AgentServer, 'fetch'>,
  method: string,
  params: object,
  headers: Record<string, string> = {},
): AsyncGenerator<Seen> {
  const { decodeSse } = await import('@batonjs/bindings');
  const response = await server.fetch(post(method, params, headers));
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    const { error } = await response.json();
    throw Object.assign(new Error(error?.message), { reason: error?.data?.[0]?.reason });
  }
  for await (const { id, data } of decodeSse(response.body)) {
    const { result, error } = JSON.parse(data);
    if (error) throw Object.assign(new Error(error.message), { reason: error.data?.[0]?.reason });
    yield { id, event: result };
  }
}

/** What a stream says, briefly: states, artifact texts, `task` or `message`. */
export async function collect(events: AsyncIterable<Seen>): Promise<string[]> {
  const words: string[] = [];
  for await (const { event } of events) words.push(brief(event));
  return words;
}

export function brief(event: StreamResponse): string {
  if ('statusUpdate' in event) return event.statusUpdate.status.state.replace('TASK_STATE_', '');
  if ('artifactUpdate' in event) {
    const { artifact } = event.artifactUpdate;
    return `${artifact.artifactId}:${artifact.parts.map((part) => ('text' in part ? part.text : '…')).join('')}`;
  }
  return 'task' in event ? `task ${event.task.status.state.replace('TASK_STATE_', '')}` : 'message';
}
