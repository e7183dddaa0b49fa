import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished } from 'vitest';
import { type AgentServerOptions, createAgentServer, reply } from '../src/index.ts';

const weather = { name: 'Weather', description: 'Says how the weather is' };
const traffic = { name: 'Traffic', description: 'Says how the roads are' };

function serve(options: Pick<AgentServerOptions, 'card' | 'store'> & Partial<AgentServerOptions>) {
  const server = createAgentServer({ agent: () => reply('fine'), ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}

it('an agent with another card is refused under the same name on the same store', () => {
  const store = memoryStore();
  serve({ card: weather, store });
  expect(() => serve({ card: traffic, store })).toThrow(/another card is named "agent".*`name` of its own/);
  serve({ card: traffic, store, name: 'traffic' });
  expect(() => serve({ card: weather, store, name: 'traffic' })).toThrow(/named "traffic"/);
});

it('another store has other names', () => {
  serve({ card: weather, store: memoryStore() });
  serve({ card: traffic, store: memoryStore() });
});

it('several servers of one agent share a name, wherever they are and however its card is written', () => {
  const store = memoryStore();
  const at = (url: string) => [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
  serve({ card: { ...weather, supportedInterfaces: at('http://127.0.0.1:1') }, store });
  const { name, description } = weather;
  serve({ card: { description, name, supportedInterfaces: at('http://127.0.0.1:2') }, store });
});

it('a name is free once all servers with it are closed', async () => {
  const store = memoryStore();
  const first = serve({ card: weather, store });
  const second = serve({ card: weather, store });
  await first.close();
  await first.close();
  expect(() => serve({ card: traffic, store })).toThrow(TypeError);
  await second.close();
  serve({ card: traffic, store });
});
