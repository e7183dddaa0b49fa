import { once } from 'node:events';
import { Agent, createServer, get, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { completed, working } from '@batonjs/server';
import { listen, listenProbes } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../packages/inspector/src/program.ts';
import { listen as listenMcp } from '../../packages/mcp/src/http/listen.ts';
import { mounts } from '../kit/http/mounts.ts';
import { listen as listenOn } from '../kit/listen.ts';
import { say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { eventually } from '../kit/until.ts';

const agent = () =>
  serve(async function* () {
    yield completed();
  });

/** Serves until the test ends. Resolves to the URL. */
const closedLater = async (opened: Promise<{ url: string; close(): Promise<void> }>) => {
  const { url, close } = await opened;
  onTestFinished(close);
  return url;
};

async function openInspector(): Promise<string> {
  const stdout = new PassThrough();
  const running = await runProgram({ argv: [], stdout, stderr: stdout });
  if (typeof running === 'object') onTestFinished(() => running.close());
  return /http:\/\/127\S*?:\d+/.exec(String(stdout.read()))![0];
}

describe('keeps idle connections for longer than proxies do, which is 60 s:', () => {
  it.each<readonly [name: string, open: () => Promise<string>]>([
    ...mounts.map(
      ([name, mount]) => [name, async () => listenOn(createServer(await mount(agent())))] as const,
    ),
    ['`listen`', () => closedLater(listen(agent()))],
    ['`listenProbes`', () => closedLater(listenProbes(agent()))],
    [
      'the server of MCP',
      () => {
        const handler = { fetch: async () => new Response(), close: async () => {} };
        return closedLater(listenMcp(handler, { port: 0, host: '127.0.0.1', allowedHosts: [] }));
      },
    ],
    ['the inspector', openInspector],
  ])('%s', async (_, open) => {
    const url = await open();
    await (await fetch(`${url}/agent`)).text();
    const { headers } = await fetch(`${url}/agent`);
    expect(headers.get('keep-alive')).toBe('timeout=75');
  });

  it('unless their owner chose otherwise', async () => {
    const server = createServer({ keepAliveTimeout: 9_000 }, await mounts[0][1](agent()));
    const url = await listenOn(server);
    await (await fetch(url)).text();
    expect(server.keepAliveTimeout).toBe(9_000);
  });
});

describe.each(mounts)('an HTTP server that is closed before its agent, by %s', (_, mount) => {
  it('ends the streams of tasks that go on, and their connections', async () => {
    const running = serve(async function* ({ signal }) {
      yield working();
      await once(signal, 'abort');
    });
    const server = createServer(await mount(running));
    const url = await listenOn(server);
    const keeping = new Agent({ keepAlive: true });
    onTestFinished(() => keeping.destroy());
    // The first answer says how long Node.js keeps connections.
    await once((await once(get(`${url}/agent`, { agent: keeping }), 'response'))[0].resume(), 'end');
    const sent = request(`${url}/agent/message:stream`, {
      agent: keeping,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    }).end(JSON.stringify({ message: say('go') }));
    const [response] = await once(sent, 'response');
    await once(response, 'data');
    let isClosed = false;
    server.close(() => {
      isClosed = true;
    });
    await once(response.resume(), 'end');
    // Not after the 75 s that an idle connection is kept otherwise.
    await eventually(() => expect(isClosed).toBe(true));
    expect(running.load.turns).toBe(1);
  });
});
