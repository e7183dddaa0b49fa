import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentClient, connect, dataOf, textOf } from '@batonjs/client';
import {
  type Agent,
  artifact,
  authRequired,
  completed,
  createAgentServer,
  inputRequired,
  reply,
  working,
} from '@batonjs/server';
import { type Listening, listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/kit/processes.ts';
import { sampleApp } from '../../../test/support/sample-app.ts';
import { concierge } from '../src/index.ts';
import type { Remotes } from '../src/remotes.ts';

const servings: Listening[] = [];
afterEach(() => Promise.all(servings.splice(0).map((serving) => serving.close({ graceMs: 0 }))));

/** An agent at an address of its own. */
async function serve(agent: Agent, options: object = {}, at: object = {}): Promise<Listening> {
  const about = { name: 'Remote', description: 'For tests' };
  const store = sqliteStore(':memory:');
  const server = createAgentServer({
    card: about,
    agent,
    store,
    timeouts: { cancelGraceMs: 500 },
    logger: () => {},
    ...options,
  });
  const serving = await listen(server, at);
  servings.push(serving);
  return serving;
}

/** The concierge in front of these agents. */
async function inFrontOf(remotes: Remotes, binding = 'JSONRPC'): Promise<AgentClient> {
  const { agent, ...options } = concierge(remotes, { unreachableMs: 500 });
  const { url } = await serve(agent, options);
  return connect(url, { binding });
}

/** Asks for a word, then says it. */
const parrot: Agent = async function* ({ messages, text }) {
  if (messages.length === 1) return yield inputRequired('Which word?');
  yield artifact('word', text);
  yield completed(`You said ${text}`);
};

describe.each(['JSONRPC', 'HTTP+JSON'])('the concierge over %s', (binding) => {
  it('hands a question up and its answer down, and artifacts and the end up again', async () => {
    const { url } = await serve(parrot);
    const agent = await inFrontOf({ parrot: { url } }, binding);
    const { task: asking } = await agent.send('parrot, speak');
    expect(asking?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(textOf(asking?.status.message)).toBe('Which word?');
    const { task } = await agent.send('polly', { task: asking });
    expect(task).toMatchObject({ id: asking!.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(textOf(task?.status.message)).toBe('You said polly');
    expect(textOf(task?.artifacts?.[0])).toBe('polly');
    const { tasks } = await (await connect(url)).listTasks();
    expect(tasks).toHaveLength(1);
  });

  it('ends as the other agent does, without a word where that says none', async () => {
    const { url } = await serve(async function* () {
      yield artifact('picture', 'A boat');
      yield completed();
    });
    const { task } = await (await inFrontOf({ painter: { url } }, binding)).send('painter');
    expect([task?.status.state, task?.status.message]).toEqual(['TASK_STATE_COMPLETED', undefined]);
  });

  it('hands up that an authorization is needed, and goes on when it is there', async () => {
    const granted = Promise.withResolvers<void>();
    const { url } = await serve(async function* () {
      yield authRequired('Please sign in at the bank');
      await granted.promise;
      yield completed('Signed in');
    });
    const agent = await inFrontOf({ bank: { url } }, binding);
    const { task } = await agent.send('bank');
    expect(task?.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(textOf(task?.status.message)).toBe('Please sign in at the bank');
    granted.resolve();
    const { task: ended } = await agent.follow(task!).result();
    expect(textOf(ended?.status.message)).toBe('Signed in');
  });

  it('cancels what runs for it, and what waits for an answer', async () => {
    const running = await serve(async function* ({ signal }) {
      yield working('Digging');
      await once(signal, 'abort');
      throw signal.reason;
    });
    const waiting = await serve(parrot);
    const agent = await inFrontOf({ digger: { url: running.url }, parrot: { url: waiting.url } }, binding);
    const stream = agent.stream('digger, dig');
    for await (const { statusUpdate } of stream)
      if (textOf(statusUpdate?.status.message) === 'Digging') await agent.cancelTask({ id: stream.task!.id });
    const { task: asking } = await agent.send('parrot, speak');
    expect((await agent.cancelTask({ id: asking!.id })).status.state).toBe('TASK_STATE_CANCELED');
    for (const { url } of [running, waiting]) {
      const { tasks } = await (await connect(url)).listTasks();
      expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED']);
    }
  });
});

describe('bad remotes', () => {
  const outcome = async (remotes: Remotes) => {
    const { task } = await (await inFrontOf(remotes)).send('other');
    return { state: task?.status.state, failure: dataOf(task?.status.message) };
  };
  const failedWith = (code: string) => ({
    state: 'TASK_STATE_FAILED',
    failure: expect.objectContaining({ code }),
  });

  /** A server that answers everything alike; nothing at all where there is no answer. */
  async function answering(answer?: (url: string) => string): Promise<string> {
    const server = createServer((_request, response) => {
      if (answer) response.setHeader('content-type', 'application/json').end(answer(url));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    servings.push({
      url,
      async close() {
        server.close();
        server.closeAllConnections();
      },
    });
    return url;
  }
  const cardOf = (url: string) => ({
    name: 'Liar',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  });

  it('one that is down', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await outcome({ other: { url } })).toEqual(failedWith('REMOTE_UNAVAILABLE'));
  });

  it('one that never answers', async () => {
    expect(await outcome({ other: { url: await answering(), timeoutMs: 100 } })).toEqual(
      failedWith('REMOTE_TIMEOUT'),
    );
  });

  it('one whose card sends us elsewhere, or is none', async () => {
    const elsewhere = await answering(() => JSON.stringify(cardOf('http://169.254.169.254/')));
    expect(await outcome({ other: { url: elsewhere } })).toEqual(failedWith('REMOTE_CARD_INVALID'));
    const none = await answering(() => '<html>');
    expect(await outcome({ other: { url: none } })).toEqual(failedWith('REMOTE_CARD_INVALID'));
  });

  it('one that answers garbage', async () => {
    const garbage = await answering((url) =>
      JSON.stringify({ ...cardOf(url), jsonrpc: '2.0', id: 1, result: 7 }),
    );
    expect(await outcome({ other: { url: garbage } })).toEqual(failedWith('REMOTE_MISBEHAVED'));
  });

  it('an unknown one: the user is asked', async () => {
    const { task } = await (await inFrontOf({ other: { url: 'http://127.0.0.1:1' } })).send('do it');
    expect(textOf(task?.status.message)).toBe('Whom should I ask: other?');
  });

  it('one that only talks is passed on like any other', async () => {
    const { url } = await serve(() => reply('Hello'));
    expect((await outcome({ other: { url } })).state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('alone', () => {
  let remote: Listening;
  beforeAll(async () => {
    const { convertMoney, card: currencyCard } = await import('../../currency/src/index.ts');
    remote = await listen(
      createAgentServer({ card: currencyCard, agent: convertMoney, store: sqliteStore(':memory:') }),
      { path: '/agents/currency' },
    );
  });
  afterAll(() => remote.close());
  const app = sampleApp('concierge', () => ({ AGENTS: remote.url.replace('/currency', '') }));

  it('knows after a kill whom it asked, and hands the answer on', async () => {
    const agent = await connect(app.url);
    const { task: asking } = await agent.send('How much is 10 USD?');
    await app.kill();
    await app.restart();
    const { task } = await agent.send('EUR', { task: asking });
    expect(task).toMatchObject({ id: asking!.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(textOf(task?.artifacts?.[0])).toBe('10 USD = 8.96 EUR');
  });
});
