import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../../../test/kit/listen.ts';

/** A call of an agent over JSON-RPC. */
export interface RpcCall {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly params: any;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly body: string;
  /** Sends an event: the answer is a stream then. */
  readonly send: (result: object) => void;
  readonly response: ServerResponse;
}

/** The answer to a message without a task. */
export const message = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'ok' }] } };

/** A task in a state, which stands there without its `TASK_STATE_`. */
export const taskOf = (state: string, more: object = {}) => ({
  id: 't',
  contextId: 'c',
  status: { state: `TASK_STATE_${state}` },
  ...more,
});

/**
 * Serves an agent over JSON-RPC until the test ends. Each call gets a result, or `{ error }`; one without an answer is
 * refused as unknown. `line`: the flags that lead to it.
 */
export async function serveRpc(
  answer: (
    call: RpcCall,
    count: number,
  ) => object | string | undefined | Promise<object | string | undefined>,
) {
  const calls: RpcCall[] = [];
  const url = await listen(
    createServer(async (request, response) => {
      const body = await text(request);
      const { id, method, params } = JSON.parse(body || '{}');
      const reply = (own: object) => JSON.stringify({ jsonrpc: '2.0', id, ...own });
      let isStream = false;
      const send = (result: object) => {
        if (!isStream) response.setHeader('content-type', 'text/event-stream');
        isStream = true;
        response.write(`data: ${reply({ result })}\n\n`);
      };
      const call = { method, params, headers: request.headers, body, send, response };
      const own = await answer(call, calls.push(call) - 1);
      if (isStream || response.writableEnded) return void response.end();
      response.setHeader('content-type', 'application/json');
      if (typeof own === 'string') return void response.end(own);
      const error = { code: -32601, message: 'Method not found' };
      response.end(reply(own ? ('error' in own ? own : { result: own }) : { error }));
    }),
  );
  return { calls, url, line: `-e ${url} --transport jsonrpc` };
}

/** Passes a call on to another agent, and gives its answer as text. */
export async function passOn(url: string, { body }: RpcCall): Promise<string> {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  return (await fetch(url, { method: 'POST', headers, body })).text();
}
