import { createServer, request } from 'node:http';
import { expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { serveChat } from '../src/index.ts';

/** The status of a request to kill, and how often the process was killed. */
async function ask(
  { canKill = true, method = 'POST' }: { canKill?: boolean; method?: string },
  headers: Readonly<Record<string, string>>,
) {
  let killed = 0;
  const kill = () => {
    killed += 1;
  };
  const url = await listen(
    createServer(serveChat({ folder: '/none', agent: '/', ...(canKill && { kill }) })),
  );
  const status = await new Promise((resolve, reject) => {
    request(`${url}/kill`, { method, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    })
      .once('error', reject)
      .end();
  });
  return { status, killed };
}

const own = { 'x-baton-chat': 'kill' };

it('the red button of the chat is only pressed by its own page', async () => {
  expect(await ask({}, own)).toEqual({ status: 202, killed: 1 });
  // A page of another origin may send a POST, and no header of its own.
  expect(await ask({}, {})).toEqual({ status: 403, killed: 0 });
  expect(await ask({}, { 'x-baton-chat': 'KILL' })).toEqual({ status: 403, killed: 0 });
  // A name of another host that leads to this machine.
  expect(await ask({}, { ...own, host: 'evil.example' })).toEqual({ status: 403, killed: 0 });
  expect(await ask({ method: 'GET' }, own)).toMatchObject({ killed: 0 });
  expect(await ask({ method: 'PUT' }, own)).toEqual({ status: 405, killed: 0 });
  expect(await ask({ canKill: false }, own)).toEqual({ status: 403, killed: 0 });
});
