import { createServer } from 'node:http';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { v03 } from '@batonjs/bindings-v0-3';
import { attachWebSocket } from '@batonjs/bindings-websocket';
import { connect } from '@batonjs/client';
import { mcpHandler } from '@batonjs/mcp';
import { createAgentServer, reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { createTaskGateway } from '@batonjs/task-gateway';

// A process of its own, so that its CPU time is that of the server. It answers each message of its parent with the
// microseconds that it has used so far; before that, `collect` lets it collect its garbage.

const listen = (listener: ReturnType<typeof createServer>): Promise<string> =>
  new Promise((resolve) => {
    // A connection that is closed as the next request is sent would look like a refusal.
    listener.keepAliveTimeout = 0;
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      resolve(`http://127.0.0.1:${Object(address).port}`);
    });
  });

/** Where it serves, each at an origin of its own. */
export interface Addresses {
  readonly agent: string;
  readonly gateway: string;
  readonly mcp: string;
}

const logger = () => {};
const server = createAgentServer({
  card: { name: 'Cost', description: 'Answers at once' },
  agent: () => reply('done'),
  store: memoryStore(),
  compatibility: [v03()],
  logger,
});
const listener = createServer(nodeHandler(server));
attachWebSocket(server, listener);
await listenGrpc(server, { port: 0 });
const agent = await listen(listener);
// The agent of the gateway and of MCP answers here too, and its time counts.
const taskGateway = createTaskGateway({ types: { cost: server }, store: memoryStore(), logger });
const gatewayListener = createServer(nodeHandler(taskGateway));
taskGateway.attach(gatewayListener);
const gateway = await listen(gatewayListener);
const handler = mcpHandler(await connect(agent));
const mcp = await listen(
  createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: 'POST',
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: Buffer.concat(chunks),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  }),
);

process.on('message', (what) => {
  // What earlier requests leave behind is not counted for the next ones.
  if (what === 'collect') globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on('disconnect', () => process.exit());
const addresses: Addresses = { agent, gateway, mcp };
process.send?.(addresses);
