import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { pump } from '../src/pump.ts';

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
