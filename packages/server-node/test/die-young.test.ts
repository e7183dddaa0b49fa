import { request as httpRequest, Agent as Sockets } from 'node:http';
import { getHeapSpaceStatistics } from 'node:v8';
import {
  type Agent,
  type AgentServer,
  artifact,
  completed,
  createAgentServer,
  working,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { collect } from '../../../test/kit/collect.ts';
import { repetitions } from '../../../test/kit/repetitions.ts';
import { listen } from '../src/index.ts';

/** The bytes of objects that outlived two young collections. */
const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;

const agent: Agent = async function* ({ step, inbox }) {
  yield working();
  await step('price', () => 5);
  if (inbox.size === 0) yield artifact('quote', 'x');
  yield completed();
};

/** How many bytes of garbage of one request outlive two young collections. */
async function promotedBy(send: () => Promise<void>, each = 10): Promise<number> {
  const rounds = repetitions(20, 40);
  for (let n = 0; n < repetitions(100, 200); n++) await send();
  collect({ type: 'major' });
  const before = oldBytes();
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < each; n++) await send();
    // What these left is promoted by the second one.
    collect({ type: 'minor' });
    collect({ type: 'minor' });
  }
  const promoted = oldBytes() - before;
  collect({ type: 'major' });
  const kept = oldBytes() - before;
  return (promoted - kept) / (rounds * each);
}

let ids = 0;
const request = () => ({
  jsonrpc: '2.0',
  id: ++ids,
  method: 'SendMessage',
  params: { message: { messageId: `m-${ids}`, role: 'ROLE_USER', parts: [{ text: 'quote' }] } },
});
const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
async function answered(server: AgentServer): Promise<void> {
  const body = JSON.stringify(request());
  const response = await server.fetch(new Request('http://localhost/', { method: 'POST', headers, body }));
  await response.text();
}
const serve = () => createAgentServer({ card: { name: 'A', description: 'B' }, agent, store: memoryStore() });

it('little of a request, its response and its task outlives a young collection besides what the store keeps', async () => {
  const { url, close } = await listen(serve(), { port: 0 });
  const sockets = new Sockets({ keepAlive: true, maxSockets: 1 });
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const sent = httpRequest(url, { method: 'POST', agent: sockets, headers }, (response) =>
        response.resume().on('end', resolve),
      );
      sent.on('error', reject).end(JSON.stringify(request()));
    });
  try {
    // 4,300, and 10,000 or more if a line makes V8 place what it creates in old space at once.
    expect(await promotedBy(send)).toBeLessThan(6_500);
  } finally {
    sockets.destroy();
    await close();
  }
});

it('nor does more of tasks that are open at the same time: no table keeps those that ended', async () => {
  const server = serve();
  const atOnce = 16;
  const sendAll = async () => {
    await Promise.all(Array.from({ length: atOnce }, () => answered(server)));
  };
  try {
    // 1,000, and 5,300 where a hash table keeps what was in it.
    expect((await promotedBy(sendAll, 2)) / atOnce).toBeLessThan(3_000);
  } finally {
    await server.close();
  }
});

it('nor does much of a `Request` that `server.fetch` answered', async () => {
  const server = serve();
  const send = () => answered(server);
  try {
    // 2,500, and 8,400 with such a line.
    expect(await promotedBy(send)).toBeLessThan(5_000);
  } finally {
    await server.close();
  }
});
