import { z } from 'zod';
import type { McpClient, ToolResult } from './mcp-client.ts';

/** The name in `_meta` of a result under which the handle stands that the server answered with. */
const HANDLE = 'batonjs.dev/mcp-handle';

const ofHandle = z.object({
  taskId: z.string().min(1),
  statusMessage: z.string().optional(),
  pollIntervalMs: z.number().int().positive().optional(),
});

/** The handle of a task at an MCP server. */
export type ToolHandle = z.output<typeof ofHandle>;

const ofTask = z.looseObject({
  taskId: z.string(),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().optional(),
  pollIntervalMs: z.number().int().positive().optional(),
  inputRequests: z.record(z.string(), z.unknown()).optional(),
  result: z.looseObject({ content: z.array(z.looseObject({ type: z.string() })).default([]) }).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

/** A task at an MCP server, as it is. */
export type ToolTask = z.output<typeof ofTask>;

/** What of the SDK's client and its transport is used for tasks. */
interface Requester {
  request(
    request: { method: string; params: Readonly<Record<string, unknown>> },
    schema: z.ZodType,
    options: { readonly signal?: AbortSignal; readonly timeout: number },
  ): Promise<unknown>;
  getServerVersion(): { readonly name: string } | undefined;
  readonly transport?: { onmessage?: (message: unknown, extra?: unknown) => void };
}

/** Milliseconds in which a server answers a request for a task. */
const timeoutMs = 30_000;

/** The client, if it can ask for tasks. */
const requesterOf = (client: McpClient): Requester | undefined =>
  'request' in client && 'getServerVersion' in client ? (client as McpClient & Requester) : undefined;

const wrapped = new WeakSet<object>();

/**
 * Lets handles through. The SDK's client refuses every result that is neither complete nor a question, so that a handle
 * is put into the `_meta` of a complete result before the client sees it. The client declares the extension itself, in
 * its capabilities: servers give no handles otherwise.
 */
export function receiveHandles(client: McpClient): void {
  const transport = requesterOf(client)?.transport;
  const receive = transport?.onmessage;
  if (!transport || !receive || wrapped.has(transport)) return;
  wrapped.add(transport);
  transport.onmessage = (message, extra) => receive.call(transport, withHandle(message), extra);
}

function withHandle(message: unknown): unknown {
  const { result } = Object(message) as { result?: { resultType?: unknown; _meta?: object } };
  if (result?.resultType !== 'task') return message;
  const handle = ofHandle.safeParse(result);
  if (!handle.success) return message;
  const meta = { ...result._meta, [HANDLE]: handle.data };
  // An output that the tool promises is not looked for in an error.
  return { ...Object(message), result: { resultType: 'complete', content: [], isError: true, _meta: meta } };
}

/** The handle in a result; undefined if it is a result of the tool. */
export const handleIn = ({ _meta }: ToolResult): ToolHandle | undefined =>
  ofHandle.safeParse(_meta?.[HANDLE]).data;

/** The name of the server behind a client, by which a later turn finds the client of a handle. */
export const serverOf = (client: McpClient): string => requesterOf(client)?.getServerVersion()?.name ?? '';

/** Reads a task. Rejects as the client does. */
export const getTask = async (client: McpClient, taskId: string, signal: AbortSignal): Promise<ToolTask> =>
  ofTask.parse(await ask(client, 'tasks/get', { taskId }, signal));

/** Answers questions of a task. An answer that was given before is ignored by the server. */
export async function updateTask(
  client: McpClient,
  taskId: string,
  inputResponses: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<void> {
  await ask(client, 'tasks/update', { taskId, inputResponses }, signal);
}

/** Asks the server to cancel a task, which it may have ended before. */
export async function cancelTask(client: McpClient, taskId: string): Promise<void> {
  await ask(client, 'tasks/cancel', { taskId }, AbortSignal.timeout(3_000));
}

async function ask(
  client: McpClient,
  method: string,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<unknown> {
  const requester = requesterOf(client);
  if (!requester) throw new TypeError('This MCP client cannot ask for tasks');
  return requester.request({ method, params }, z.looseObject({}), { signal, timeout: timeoutMs });
}

/** Whether the server answered that it has no such task, or no tasks at all. */
export const isUnknownTask = (error: unknown): boolean => [-32_602, -32_601].includes(Object(error).code);
