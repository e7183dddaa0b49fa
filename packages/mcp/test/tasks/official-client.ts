import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  DispatchError,
  type RawClientDispatch,
} from '@modelcontextprotocol/ext-tasks/client';
import { onTestFinished } from 'vitest';

const protocolVersion = '2026-07-28';
const clientInfo = { name: 'host', version: '1.0.0' };
const clientCapabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** What a user answers to a question. */
export type Answer = (params: Readonly<Record<string, unknown>>) => {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, string | number | boolean>>;
};

/**
 * A host with the official client for tasks, until the test ends. The SDK's client checks results against its own
 * version of the protocol, so that requests for tasks go beside it, as the client for tasks wants it.
 */
export async function officialHost(url: URL, answer?: Answer) {
  const client = new Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: { pin: protocolVersion } },
  });
  await client.connect(new StreamableHTTPClientTransport(url));
  onTestFinished(() => client.close());
  let id = 0;
  const rawDispatch: RawClientDispatch = async (request, options) => {
    const { method, params } = Object(request) as { method: string; params: Record<string, unknown> };
    id += 1;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': protocolVersion,
        'mcp-method': method,
        ...(method === 'tools/call' && { 'mcp-name': String(params.name) }),
        ...options?.context?.headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      ...(options?.signal && { signal: options.signal }),
    }).catch((error: unknown) => {
      options?.signal?.throwIfAborted();
      throw new DispatchError('The server cannot be reached', true, { cause: error });
    });
    const text = await response.text();
    const json = text.startsWith('{')
      ? text
      : text
          .split('\n')
          .findLast((line) => line.startsWith('data: '))
          ?.slice(6);
    const { result, error } = JSON.parse(json ?? '{}');
    return error ? { kind: 'error', error } : { kind: 'result', result };
  };
  const session = createTaskSessionFromClient(client, {
    // The same after a restart of the host: references of tasks are those of this server.
    endpointId: 'test',
    rawDispatch,
    v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities },
    ...(answer && {
      onInputRequest: async (request) => answer(request.params ?? {}) as never,
    }),
  });
  return { client, session };
}
