import type { Connection } from './connection.ts';

/** A JSON-RPC request over HTTP as it goes over the wire. `headers`: more lines, each with its line end. */
export function rpc(host: string, id: number, method: string, params: unknown, headers = ''): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  return `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nA2A-Version: 1.0\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** A user's message of one text. */
export const message = (messageId: string, text: string) => ({
  message: { messageId, role: 'ROLE_USER', parts: [{ text }] },
});

/** What a contender answered, as far as benchmarks read it. */
export interface RpcTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly timestamp?: string };
  readonly artifacts?: readonly {
    readonly artifactId: string;
    readonly parts: readonly { text?: string }[];
  }[];
  readonly history?: readonly { readonly messageId: string; readonly parts: readonly { text?: string }[] }[];
}

/** Sends one request and returns its result. Rejects unless it is answered with a result under the same id. */
export async function call<Result>(
  connection: Connection,
  host: string,
  id: number,
  method: string,
  params: unknown,
): Promise<Result> {
  const { status, body } = await connection.request(rpc(host, id, method, params));
  const reply = JSON.parse(body) as { id: number; result?: Result };
  if (status !== 200 || reply.id !== id || reply.result === undefined)
    throw new Error(`${method} was answered ${status}: ${body.slice(0, 500)}`);
  return reply.result;
}

/** The data of server-sent events, from text that comes piece by piece. Each must be one line. */
export function eventReader(onEvent: (data: string, id: string | undefined) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    rest += text;
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const event = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const data = event.startsWith('data: ') ? 0 : event.indexOf('\ndata: ') + 1;
      // A comment, or a retry interval.
      if (data === 0 && !event.startsWith('data: ')) continue;
      onEvent(event.slice(data + 6), /^id: (.*)$/m.exec(event.slice(0, data))?.[1]);
    }
  };
}
