import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { grpcClient } from '@batonjs/bindings-grpc';
import { v03Client } from '@batonjs/bindings-v0-3';
import { webSocketClient } from '@batonjs/bindings-websocket/client';
import { A2AError, type ConnectOptions, connect } from '@batonjs/client';
import { connectTasks, type GatewayTask, type NewTask, TaskError } from '@batonjs/task-gateway/client';
import { type Content, contents } from './request-cost/bodies.ts';
import type { Addresses } from './request-cost/server.ts';

// What one request costs at the default limits: CPU of the server, in milliseconds, for each binding and kind of body.
// Requests are sent in batches, one after another: the mean of a batch holds what collecting their garbage costs. The
// figure is that of the cheapest batch: other processes on the machine make a request dearer, and never cheaper.

const warmUp = 3;
const batches = 5;
const perBatch = 6;

const child = fork(new URL('request-cost/server.ts', import.meta.url), {
  execArgv: ['--conditions=@batonjs/source', '--expose-gc'],
});
const said = async () => (await once(child, 'message'))[0];
const addresses = (await said()) as Addresses;
const ask = async (what: 'collect' | 'cpu'): Promise<number> => {
  child.send(what);
  return (await said()) as number;
};

const post = async (url: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Whether the server accepted the content: its agent answered. */
type Send = (content: Content) => Promise<boolean>;

const partOf = ({ text, data }: Content) => (text === undefined ? { data } : { text });

async function agentSend(options: ConnectOptions): Promise<Send> {
  const agent = await connect(addresses.agent, { ...options, retry: false });
  return async (content) => {
    try {
      const { message } = await agent.send({ parts: [partOf(content)] as never });
      return message !== undefined;
    } catch (error) {
      if (A2AError.is(error)) return false;
      throw error;
    }
  };
}

async function mcpSend(): Promise<Send> {
  const accept = { accept: 'application/json, text/event-stream' };
  const clientInfo = { name: 'cost', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const opened = await post(addresses.mcp, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, accept);
  const headers = { ...accept, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  return async ({ text: message = 'data', data }) => {
    const args = { message, ...(data !== undefined && { data: { data } }) };
    const call = { name: 'Cost', arguments: args };
    const response = await post(
      addresses.mcp,
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
      headers,
    );
    const answer = await response.text();
    if (answer.includes('done')) return true;
    if (response.status === 400) return false;
    throw new Error(`MCP answered ${response.status}: ${answer.slice(0, 200)}`);
  };
}

const tasks = connectTasks(addresses.gateway);
const taskSend: Send = async ({ text, data }) => {
  const task: NewTask = { type: 'cost', data: { input: (text ?? data) as GatewayTask['data'] } };
  try {
    const { taskId } = await tasks.submit(task);
    let last = '';
    for await (const { status } of tasks.watch(taskId)) last = status;
    return last === 'completed';
  } catch (error) {
    if (TaskError.is(error, 'INVALID_REQUEST')) return false;
    throw error;
  }
};

const megabyte = 1_048_576;
const bindings: readonly (readonly [string, Send, number, number])[] = [
  ['JSON-RPC', await agentSend({ binding: 'JSONRPC' }), 4 * megabyte, 100_000],
  ['HTTP+JSON', await agentSend({ binding: 'HTTP+JSON' }), 4 * megabyte, 100_000],
  // The same values take more bytes there.
  ['gRPC', await agentSend({ bindings: [grpcClient()] }), 4 * megabyte - 600_000, 100_000],
  ['WebSocket', await agentSend({ bindings: [webSocketClient()] }), 4 * megabyte, 100_000],
  ['0.3', await agentSend({ compatibility: [v03Client()], version: '0.3' }), 4 * megabyte, 100_000],
  ['gateway', taskSend, megabyte, 20_000],
  ['MCP', await mcpSend(), megabyte, 20_000],
];

async function cost(send: Send, kind: string, content: Content): Promise<number> {
  const isAccepted = !kind.endsWith('refused');
  const sendOne = async () => {
    if ((await send(content)) !== isAccepted)
      throw new Error(`"${kind}" was ${isAccepted ? 'refused' : 'accepted'}`);
  };
  for (let n = 0; n < warmUp; n++) await sendOne();
  let least = Number.POSITIVE_INFINITY;
  for (let batch = 0; batch < batches; batch++) {
    const before = await ask('collect');
    for (let n = 0; n < perBatch; n++) await sendOne();
    least = Math.min(least, (await ask('cpu')) - before);
  }
  return least / perBatch / 1_000;
}

console.log(`${cpus().length} cores (${cpus()[0]?.model}), Node.js ${process.version}\n`);
console.log(`| body | ${bindings.map(([name]) => name).join(' | ')} |`);
console.log(`| --- |${' --- |'.repeat(bindings.length)}`);
const asked = process.argv.slice(2);
for (const kind of Object.keys(contents(megabyte, 20_000))) {
  if (asked.length > 0 && !asked.includes(kind)) continue;
  const cells: string[] = [];
  for (const [name, send, bytes, values] of bindings) {
    const figure = await cost(send, kind, contents(bytes, values)[kind]!()).catch((cause) => {
      throw new Error(`${name} could not be measured`, { cause });
    });
    cells.push(figure.toFixed(0));
  }
  console.log(`| ${kind} | ${cells.join(' | ')} |`);
}
child.disconnect();
process.exit();
