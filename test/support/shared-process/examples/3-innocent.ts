import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';

it('takes as long as on a busy machine', () => new Promise((resolve) => setTimeout(resolve, 1_500)));

it('finds the process as it was', () => {
  expect(performance.now()).toBeGreaterThan(0);
  expect(String(fetch)).not.toContain('not the network');
  expect(process.env.LEFT_BY_EXAMPLE).toBeUndefined();
  expect(process.cwd()).not.toBe('/');
});

it('closes what it opens, which ends a moment later', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  await once(socket, 'connect');
  onTestFinished(() => {
    server.close();
    socket.destroy();
  });
  const spy = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => spy.mockRestore());
  const [timer, interval] = [setTimeout(() => {}, 3_600_000), setInterval(() => {}, 1_000)];
  clearTimeout(timer);
  clearInterval(interval);
});
