import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { serve } from '../../../../../test/kit/serve.ts';
import { type AgentServerOptions, reply } from '../../../src/index.ts';

const weather = { name: 'Weather', description: 'Says how the weather is' };
const traffic = { name: 'Traffic', description: 'Says how the roads are' };

const serveCard = (options: Pick<AgentServerOptions, 'card' | 'store'> & Partial<AgentServerOptions>) =>
  serve(() => reply('fine'), options);

it('an agent with another card is refused under the same name on the same store', () => {
  const store = memoryStore();
  serveCard({ card: weather, store });
  expect(() => serveCard({ card: traffic, store })).toThrow(
    /another card is named "agent".*`name` of its own/,
  );
  serveCard({ card: traffic, store, name: 'traffic' });
  expect(() => serveCard({ card: weather, store, name: 'traffic' })).toThrow(/named "traffic"/);
});

it('another store has other names', () => {
  serveCard({ card: weather, store: memoryStore() });
  serveCard({ card: traffic, store: memoryStore() });
});

it('several servers of one agent share a name, wherever they are and however its card is written', () => {
  const store = memoryStore();
  const at = (url: string) => [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
  serveCard({ card: { ...weather, supportedInterfaces: at('http://127.0.0.1:1') }, store });
  const { name, description } = weather;
  serveCard({ card: { description, name, supportedInterfaces: at('http://127.0.0.1:2') }, store });
});

it('a name is free once all servers with it are closed', async () => {
  const store = memoryStore();
  const first = serveCard({ card: weather, store });
  const second = serveCard({ card: weather, store });
  await first.close();
  await first.close();
  expect(() => serveCard({ card: traffic, store })).toThrow(TypeError);
  await second.close();
  serveCard({ card: traffic, store });
});
