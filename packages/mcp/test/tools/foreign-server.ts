import { Client, InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';

/** A request that a scripted server got. */
export interface Asked {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: params have many shapes.
  readonly params: any;
}

/** What a scripted server answers: a result, or an error of JSON-RPC. */
export type Answer = object | { readonly error: { readonly code: number; readonly message: string } };

const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
  ttlMs: 0,
  cacheScope: 'private',
};

/**
 * A client of the SDK that declares the extension for tasks, and a server of another maker behind it, which says what the
 * test says: the answers to each method, one after the other, and the last one again and again.
 */
export async function foreignServer(script: Readonly<Record<string, readonly Answer[]>>, name = 'Foreign') {
  const asked: Asked[] = [];
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const left = new Map(Object.entries(script).map(([method, answers]) => [method, [...answers]]));
  const next = (method: string): Answer => {
    if (method === 'server/discover')
      return { ...discovered, _meta: { 'io.modelcontextprotocol/serverInfo': { name, version: '1' } } };
    const answers = left.get(method) ?? [];
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? { resultType: 'complete' };
  };
  theirs.onmessage = (message) => {
    const { id, method, params } = message as { id?: string; method: string; params?: object };
    if (id === undefined) return;
    if (method !== 'server/discover') asked.push({ method, params });
    const answer = next(method);
    const reply = 'error' in answer && !('status' in answer) ? { error: answer.error } : { result: answer };
    void theirs.send({ jsonrpc: '2.0', id, ...reply } as JSONRPCMessage);
  };
  await theirs.start();
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  );
  await client.connect(ours);
  onTestFinished(() => client.close());
  const count = (method: string) => asked.filter((one) => one.method === method).length;
  return { client, asked, count };
}

/** The handle with which such a server answers a call. */
export const handle = (more: object = {}) => ({
  resultType: 'task',
  taskId: 't-1',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: null,
  pollIntervalMs: 1,
  ...more,
});

/** Its task as it is. */
export const task = (status: string, more: object = {}) => ({
  ...handle(),
  resultType: 'complete',
  status,
  ...more,
});

/** A question of such a task. */
export const question = (message: string, properties: object = {}) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties } },
});
