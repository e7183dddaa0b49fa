import { describe, expect, it } from 'vitest';
import { say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { reply } from '../../../src/index.ts';

const post = (server: ReturnType<typeof serve>, version: string, query = '') =>
  server.fetch(
    new Request(`http://localhost/message:send${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(version && { 'a2a-version': version }) },
      body: JSON.stringify({ message: say('go') }),
    }),
  );

describe('the version of a request over HTTP', () => {
  const plain = () => serve(() => reply('Hello'));
  const previewing = () => serve(() => reply('Hello'), { compatibility: ['1.1'] });

  it.each([
    ['1.0', plain],
    ['1.0', previewing],
    ['1.1', previewing],
  ])('%s is answered', async (version, start) => {
    expect((await post(start(), version)).status).toBe(200);
  });

  it.each([
    ['1.1', plain],
    ['2.0', plain],
    ['2.0', previewing],
    ['1.2', previewing],
  ])('%s is refused where the server does not speak it', async (version, start) => {
    const response = await post(start(), version);
    expect([response.status, (await response.json()).error.details?.[0]?.reason]).toEqual([
      400,
      'VERSION_NOT_SUPPORTED',
    ]);
  });

  it('may stand in the query', async () => {
    expect((await post(plain(), '', '?A2A-Version=1.0')).status).toBe(200);
    expect((await post(plain(), '', '?A2A-Version=2.0')).status).toBe(400);
    expect((await post(plain(), '', '?tenant=2.0&a2a-version=1.0')).status).toBe(200);
  });
});
