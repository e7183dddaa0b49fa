import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, vi } from 'vitest';

const target = { method: () => 'real' };

// It passes, and leaves one of everything behind.
it('passes', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  connect(port, '127.0.0.1').unref();
  setTimeout(() => {}, 3_600_000);
  setInterval(() => {}, 3_600_000).unref();
  spawn('sleep', ['60'], { stdio: 'ignore' }).unref();
  createAgentServer({
    card: { name: 'Left', description: 'Not closed' },
    agent: () => reply('Hello'),
    store: memoryStore(),
  });
  vi.spyOn(target, 'method');
  expect(target.method()).toBe('real');
  performance.now = () => 0;
  globalThis.fetch = () => Promise.reject(new Error('not the network'));
  Object.assign(globalThis, { leftByExample: true });
  process.env.LEFT_BY_EXAMPLE = 'yes';
  process.on('SIGHUP', () => {});
  process.chdir('/');
});
