import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '@batonjs/client';
import { signTick, tick, withWaitUntil } from '@batonjs/server/due';
import { memoryStore } from '@batonjs/store-memory';
import { serverOn } from '../src/server.ts';

/** A session, as a visitor has. */
const headers = { cookie: `session=${crypto.randomUUID()}` };

test('a message that is answered at once is worked on after the reply', async (context) => {
  const server = serverOn(memoryStore());
  context.after(() => server.close());
  const works: Promise<unknown>[] = [];
  const fetch = withWaitUntil(server, { waitUntil: (work) => works.push(work), maxMs: 10_000 });
  const client = await connect('http://localhost:3000/api/agent', { headers, fetch });
  const { task } = await client.send('3 boxes', { configuration: { returnImmediately: true } });
  await Promise.all(works);
  const { status } = await client.getTask({ id: task!.id });
  assert.doesNotMatch(status.state, /SUBMITTED|WORKING/);
});

test('a run goes on with what calls left, and no one else begins one', async (context) => {
  const server = serverOn(memoryStore());
  context.after(() => server.close());
  const secret = 'a secret of this test';
  const cron = tick(server, { secret, bearer: true, forMs: 10_000 });
  const client = await connect('http://localhost:3000/api/agent', { headers, fetch: server.fetch });
  await client.send('3 boxes', { configuration: { returnImmediately: true } });
  const address = 'http://localhost/api/cron';
  assert.equal((await cron(new Request(address))).status, 401);
  const run = await cron(new Request(address, { headers: { authorization: `Bearer ${secret}` } }));
  assert.equal((await run.json()).turns, 1);
  const again = await cron(new Request(address, { method: 'POST', headers: await signTick(secret) }));
  assert.equal((await again.json()).turns, 0);
});
