import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { pump } from '../src/answer.ts';

it('sends the headers of a stream that has no text yet', async () => {
  const begin = Promise.withResolvers<void>();
  async function* texts() {
    await begin.promise;
    yield 'first';
  }
  const origin = await listen(
    createServer((_, res) => pump(texts(), res.writeHead(200, { 'x-stream': 'yes' }))),
  );
  const response = await fetch(origin);
  expect(response.headers.get('x-stream')).toBe('yes');
  begin.resolve();
  expect(await response.text()).toBe('first');
});

it('gives the socket the headers and the first text at once, the headers as a piece of their own', async () => {
  async function* texts() {
    yield 'first';
    yield 'second';
  }
  const pieces: string[][] = [];
  const origin = await listen(
    createServer((_, res) => {
      res.socket!._writev = function (chunks, callback) {
        pieces.push(chunks.map(({ chunk }) => String(chunk)));
        Socket.prototype._writev!.call(this, chunks, callback);
      };
      pump(texts(), res.writeHead(200, { 'x-stream': 'yes' }));
    }),
  );
  expect(await (await fetch(origin)).text()).toBe('firstsecond');
  const [[headers, ...first] = []] = pieces;
  expect(headers).toMatch(/^HTTP\/1\.1 200 OK\r\nx-stream: yes\r\n.*\r\n\r\n$/s);
  expect(first.join('')).toBe('5\r\nfirst\r\n');
});

it('sends what it has written when its server closes, and writes nothing more', async () => {
  const length = 2 ** 24;
  const server = createServer((_, res) => {
    const late = Promise.withResolvers<string>();
    async function* texts() {
      yield 'x'.repeat(length);
      yield await late.promise;
    }
    pump(texts(), res.writeHead(200));
    res.once('drain', async () => {
      await late.promise;
      server.close();
    });
    res.once('drain', () => late.resolve('late'));
  });
  const response = await fetch(await listen(server));
  expect(await response.text()).toHaveLength(length);
});

it('lets go of a stream whose client left a moment ago', async () => {
  const left = Promise.withResolvers<void>();
  const texts = {
    [Symbol.asyncIterator]: () => texts,
    next: () => new Promise<never>(() => {}),
    return: async () => {
      left.resolve();
      return { done: true as const, value: undefined };
    },
  };
  const server = createServer((_, res) => {
    res.detachSocket(res.socket!);
    pump(texts, res);
    res.destroy();
  });
  const response = fetch(await listen(server));
  await left.promise;
  server.closeAllConnections();
  await expect(response).rejects.toThrow();
});
