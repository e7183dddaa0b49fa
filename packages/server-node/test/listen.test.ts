import { once } from 'node:events';
import { connect as dial } from 'node:net';
import { connect, textOf } from '@batonjs/client';
import { type Agent, completed, createAgentServer, reply, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { freePort } from '../../../test/kit/processes.ts';

const card = { name: 'Echo', description: 'Says it again' };
const serverOf = (agent: Agent) =>
  closedAfterTest(createAgentServer({ card, agent, store: memoryStore(), logger: () => {} }));
const echo: Agent = ({ text }) => reply(text);

describe('listen', () => {
  it.each(['/', '/agents/echo', '/agents/echo/'])('serves an agent at %s of a free port', async (path) => {
    const { url, close } = await listen(serverOf(echo), { path });
    const agent = await connect(url);
    expect(agent.interface.url).toBe(url);
    expect(textOf((await agent.send('Hello')).message)).toBe('Hello');
    await close();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('says that another program has its port, and how to choose another', async () => {
    const first = await listen(serverOf(echo));
    const port = Number(new URL(first.url).port);
    const error = await listen(serverOf(echo), { port }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      code: 'EADDRINUSE',
      message:
        `Another program listens on 127.0.0.1:${port}: ` +
        'end it, or choose another port with `listen(server, { port })`; 0 takes a free one',
      stack: expect.stringMatching(/^Error: [^\n]*$/),
    });
    await first.close();
  });

  it('says that the tasks of its name are those of another agent, and frees the port', async () => {
    const store = memoryStore();
    const serve = (name: string) => {
      const options = { card: { ...card, name }, agent: echo, store, logger: () => {} };
      return closedAfterTest(createAgentServer(options));
    };
    const first = serve('Echo');
    await (await listen(first)).close();
    const renamed = serve('Parrot');
    const port = await freePort();
    const error = await listen(renamed, { port }).catch((failure: unknown) => failure);
    expect(error).toMatchObject({
      message: expect.stringContaining('are those of the agent "Echo"'),
      stack: expect.stringMatching(/^Error: In this store [^\n]*$/),
    });
    await (await listen(serverOf(echo), { port })).close();
  });

  it('serves an agent whose store does not answer yet', async () => {
    const away = () => Promise.reject(new Error('The store is away'));
    const options = {
      card,
      agent: echo,
      store: { ...memoryStore(), ping: away, load: away },
      logger: () => {},
    };
    const { url, close } = await listen(closedAfterTest(createAgentServer(options)));
    expect((await fetch(`${url}/.well-known/agent-card.json`)).status).toBe(200);
    await close();
  });

  it('limits clients that reset their connections, by the name of those without an address', async () => {
    let runs = 0;
    const server = createAgentServer({
      card,
      agent() {
        runs += 1;
        return reply('Hello');
      },
      store: memoryStore(),
      publicUrl: 'https://agent.example',
      limits: {
        callers: {
          messages: { limit: 1, perMs: 3_600_000 },
          callerOf: ({ remoteAddress }) => remoteAddress ?? 'unknown',
        },
      },
    });
    const { url, close } = await listen(server);
    for (let n = 0; n < 8; n += 1) {
      const message = { messageId: `m${n}`, role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
      await sendAndReset(url, JSON.stringify({ message }));
      // Answered after the message.
      expect((await fetch(`${url}/tasks`, { headers: { 'a2a-version': '1.0' } })).status).toBe(200);
    }
    await close();
    // One by the address, if the server still found that out, and one for all others.
    expect(runs).toBeLessThanOrEqual(2);
  });

  it('answers 408 to a request that does not arrive within `requestMs`, by its headers or by its body', async () => {
    const { url, close } = await listen(serverOf(echo), { requestMs: 100 });
    const head = 'POST /message:send HTTP/1.1\r\nhost: localhost\r\n';
    for (const begun of [head, `${head}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`]) {
      const socket = dial(Number(new URL(url).port), '127.0.0.1');
      socket.write(begun);
      expect(String((await socket.toArray()).join(''))).toMatch(/^HTTP\/1\.1 408/);
    }
    await close();
  });

  it('closes connections beyond `connections`', async () => {
    const { url, close } = await listen(serverOf(echo), { connections: 1 });
    const port = Number(new URL(url).port);
    const first = dial(port, '127.0.0.1');
    first.write('GET /tasks HTTP/1.1\r\nhost: localhost\r\na2a-version: 1.0\r\n\r\n');
    expect(String((await once(first, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
    const second = dial(port, '127.0.0.1');
    expect(await second.toArray()).toEqual([]);
    first.destroy();
    await close();
  });

  it('lets what runs finish, and answers who waits for it, before it frees the port', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: running, resolve: run } = Promise.withResolvers<void>();
    const { url, close } = await listen(
      serverOf(async function* () {
        yield working();
        run();
        await released;
        yield completed('Done');
      }),
    );
    const sent = (await connect(url)).send('Work');
    await running;
    const closing = close();
    expect(close()).toBe(closing);
    release();
    await closing;
    expect((await sent).task?.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('ends what does not finish in time', async () => {
    const { url, close } = await listen(
      serverOf(async function* () {
        yield working();
        await new Promise(() => {});
      }),
    );
    const agent = await connect(url);
    const stream = agent.stream('Work');
    await stream[Symbol.asyncIterator]().next();
    await close({ graceMs: 0 });
    expect((await stream.result()).task?.status.state).toBe('TASK_STATE_FAILED');
  });

  it('rejects where the port is taken', async () => {
    const { url, close } = await listen(serverOf(echo));
    await expect(listen(serverOf(echo), { port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await close();
  });
});

/** Sends a message over HTTP+JSON, and resets the connection. */
const sendAndReset = (url: string, body: string): Promise<void> =>
  new Promise((resolve) => {
    const head = ['A2A-Version: 1.0', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const socket = dial(Number(new URL(url).port), new URL(url).hostname, () =>
      socket.write(
        ['POST /message:send HTTP/1.1', 'Host: localhost', ...head, '', body].join('\r\n'),
        () => void socket.resetAndDestroy(),
      ),
    );
    socket.on('close', () => resolve());
  });
