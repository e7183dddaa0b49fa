import { request, Agent as Sockets } from 'node:http';
import { getHeapSpaceStatistics } from 'node:v8';
import { type Agent, artifact, completed, createAgentServer, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { collect } from '../../../test/kit/collect.ts';
import { listen } from '../src/index.ts';

/** The bytes of objects that outlived two young collections. */
const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size;

const agent: Agent = async function* () {
  yield working();
  yield artifact('quote', 'x');
  yield completed();
};

it('little of a request, its response and its task outlives a young collection besides what the store keeps', async () => {
  const server = createAgentServer({ card: { name: 'A', description: 'B' }, agent, store: memoryStore() });
  const { url, close } = await listen(server, { port: 0 });
  const sockets = new Sockets({ keepAlive: true, maxSockets: 1 });
  let ids = 0;
  const send = () =>
    new Promise<void>((resolve, reject) => {
      const message = { messageId: `m-${++ids}`, role: 'ROLE_USER', parts: [{ text: 'quote' }] };
      const body = JSON.stringify({ jsonrpc: '2.0', id: ids, method: 'SendMessage', params: { message } });
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
      const sent = request(url, { method: 'POST', agent: sockets, headers }, (response) =>
        response.resume().on('end', resolve),
      );
      sent.on('error', reject).end(body);
    });
  const each = 10;
  const rounds = 40;
  try {
    for (let n = 0; n < 200; n++) await send();
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
    // 2,800, and 7,200 or more if a line makes V8 place what it creates in old space at once.
    expect((promoted - kept) / (rounds * each)).toBeLessThan(5_000);
  } finally {
    sockets.destroy();
    await close();
  }
});
