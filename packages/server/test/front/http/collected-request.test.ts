import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { collect } from '../../../../../test/kit/collect.ts';
import { say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { untilAborted } from '../../../../../test/kit/until-aborted.ts';
import { working } from '../../../src/index.ts';

it('a client that leaves ends its stream although nothing holds its request any more', async () => {
  const server = serve(async function* ({ signal }) {
    yield working('Working');
    await untilAborted(signal);
  });
  const leaving = new AbortController();
  const body = await opened(server.fetch, leaving.signal);
  const reader = body.getReader();
  const read = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  const ended = read();
  await setImmediate();
  collect({ type: 'major' });
  leaving.abort();
  await ended;
  await expect(reader.closed).resolves.toBeUndefined();
});

/** Opens a stream and keeps its body only. */
async function opened(fetch: (request: Request) => Promise<Response>, signal: AbortSignal) {
  const response = await fetch(
    new Request('http://localhost/message:stream', {
      method: 'POST',
      headers: { 'content-type': 'application/a2a+json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message: say('Go') }),
      signal,
    }),
  );
  return response.body!;
}
