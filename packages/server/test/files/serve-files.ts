import { memoryStore } from '@batonjs/store-memory';
import { memoryFiles } from '../../../../test/kit/memory-files.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { type ServeOptions, serve } from '../../../../test/kit/serve.ts';
import type { Agent, AgentServer, Part } from '../../src/index.ts';

/** Bytes that are kept apart from the task, other ones for each text. */
export const large = (text = 'x', size = 100_000): Uint8Array => new Uint8Array(Buffer.alloc(size, text));

/** All that comes. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

export const raw = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** A server that keeps files apart, and what it keeps. The scope of a caller is its header `x-caller`. */
export function serveFiles(agent: Agent, { files: given, ...options }: ServeOptions = {}) {
  const files = given?.store ?? memoryFiles();
  const store = options.store ?? memoryStore();
  const server = serve(agent, {
    publicUrl: 'http://localhost/agent',
    authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'ana' }),
    card: { name: 'Test', description: 'For tests', defaultInputModes: ['*/*'] },
    ...options,
    store,
    files: { ...given, store: files },
  });
  const keys = async () =>
    (await all(files.list(''))).flatMap(({ key }) => (key.includes('/mark/') ? [] : key));
  return { server, store, files, keys };
}

export const send = async (
  server: AgentServer,
  parts: readonly Part[],
  { caller = 'ana', ...more }: { caller?: string; taskId?: string; messageId?: string } = {},
) => {
  const { task, message } = await rpc(
    server,
    'SendMessage',
    { message: say([...parts], more) },
    { 'x-caller': caller },
  );
  return task ?? message;
};

export const fetched = (server: AgentServer, url: string, init: RequestInit = {}): Promise<Response> =>
  server.fetch(new Request(url, init));

export const bytesAt = async (server: AgentServer, url: string): Promise<Uint8Array> => {
  const response = await fetched(server, url);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return response.bytes();
};

export const uploaded = async (
  server: AgentServer,
  body: Uint8Array | ReadableStream,
  { query = '', ...init }: RequestInit & { query?: string } = {},
) => {
  const request = { method: 'POST', body, duplex: 'half', ...init } as RequestInit;
  const response = await fetched(server, `http://localhost/agent/files${query}`, request);
  return { status: response.status, reply: JSON.parse(await response.text()) };
};
