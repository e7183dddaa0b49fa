import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Pool } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { pgDatabase } from '../../src/index.ts';

const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};

it('a connection that the database ends with the bytes that open it ends no process', async () => {
  const stop = new AbortController();
  const accepted = message('R', Buffer.alloc(4));
  const ready = message('Z', Buffer.from('I'));
  const ended = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.end(Buffer.concat([accepted, ready, ended]));
      stop.abort(new Error('over'));
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new Pool({ host: '127.0.0.1', port, user: 'bank', database: 'bank', password: 'bank' });
  pool.on('error', () => {});
  onTestFinished(() => pool.end());
  const key = { scope: '', taskId: 't', turn: '1', name: 'pay', fence: 1 };
  const paid = pgDatabase(pool).once(key, async () => 1, stop.signal);
  await expect(paid).rejects.toThrow('over');
});
