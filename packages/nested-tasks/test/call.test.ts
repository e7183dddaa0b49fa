import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03, v03Client } from '@batonjs/bindings-v0-3';
import { type AgentClient, connect, textOf } from '@batonjs/client';
import { extend, progress, taskProgress } from '@batonjs/extensions';
import { progressOf, TASK_PROGRESS } from '@batonjs/extensions/client';
import { CallError, type Callee, type CallingAgent, relayAll } from '@batonjs/nested-tasks';
import {
  type Agent,
  artifact,
  completed,
  failed,
  file,
  inputRequired,
  reply,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveLeadingCard } from '../../../test/kit/http/card-that-leads.ts';
import { listen } from '../../../test/kit/listen.ts';
import { serveOfficial } from '../../../test/kit/official-server.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { clientOf, serveParent, statesOf, tasksOf } from './family.ts';

/** Says the word that it is told, after a line about its progress. */
const parrot: Agent = async function* ({ text }) {
  yield working(`Learning ${text}`);
  yield artifact('word', text);
  yield completed(`You said ${text}`);
};

/** Calls one agent, and completes with what it said. */
const asking = (callee: Callee, options: object = {}): CallingAgent =>
  async function* (turn) {
    const { task, message } = await turn.call(callee, turn.text, { name: 'word', ...options });
    yield completed(textOf(message ?? task?.artifacts?.[0]) || textOf(task?.status.message));
  };

/** The texts of all status updates of a stream. */
async function saidBy(client: AgentClient, text: string): Promise<string[]> {
  const said: string[] = [];
  for await (const { statusUpdate } of client.stream(text))
    if (statusUpdate) said.push(textOf(statusUpdate.status.message));
  return said;
}

/** The failure of a task whose agent does this. */
async function failureOf(agent: CallingAgent, nested: object = {}): Promise<string> {
  const client = await clientOf(serveParent(agent, nested));
  const { task } = await client.send('Hello');
  expect(task?.status.state).toBe('TASK_STATE_FAILED');
  return textOf(task?.status.message);
}

it('a card leads a call to no address of the network, unless the agent allows it', async () => {
  const { url, port, asked } = await serveLeadingCard();
  expect(await failureOf(asking(url), { unreachableMs: 50 })).toContain('The call "word" failed');
  expect(asked).toEqual([]);
  const client = await clientOf(serveParent(asking(url), { addresses: { allow: [`127.0.0.1:${port}`] } }));
  const { task } = await client.send('Hello');
  expect(textOf(task?.status.message)).toBe('From inside');
  expect(asked).not.toEqual([]);
});

describe('a call returns how the child ended, and passes on its progress,', () => {
  const roads: Record<string, () => Promise<Callee>> = {
    'in this process': async () => serve(parrot),
    'at a URL': async () => listen(nodeHandler(serve(parrot))),
    'at the URL of a card': async () =>
      new URL('/.well-known/agent-card.json', await listen(nodeHandler(serve(parrot)))),
    'over JSON-RPC': async () => connect(await listen(nodeHandler(serve(parrot))), { binding: 'JSONRPC' }),
    'over HTTP+JSON': async () => connect(await listen(nodeHandler(serve(parrot))), { binding: 'HTTP+JSON' }),
    'over gRPC': async () => {
      const server = serve(parrot);
      const listener = await listenGrpc(server, { port: 0 });
      onTestFinished(() => listener.close({ graceMs: 0 }));
      return connect('http://localhost', { fetch: server.fetch, bindings: [grpcClient()] });
    },
    'over A2A 0.3': async () => {
      const url = await listen(nodeHandler(serve(parrot, { compatibility: [v03()] })));
      return connect(url, { version: '0.3', compatibility: [v03Client()] });
    },
  };

  it.each(Object.entries(roads))('%s', async (_, road) => {
    const client = await clientOf(serveParent(asking(await road())));
    expect(await saidBy(client, 'polly')).toEqual(['Learning polly', 'polly']);
  });

  it.each(['1.0', '0.3'] as const)('at the official server of version %s', async (version) => {
    const { url } = await serveOfficial({ version });
    const compatibility = [v03Client()];
    const client = await clientOf(serveParent(asking(await connect(url, { version, compatibility }))));
    expect(await saidBy(client, 'Hello')).toEqual(['On it', '10 USD is 833 INR']);
  });
});

describe('a call', () => {
  it('to an agent that answers with a message returns the message', async () => {
    const { task } = await (await clientOf(serveParent(asking(serve(() => reply('Hello')))))).send('Hi');
    expect(textOf(task?.status.message)).toBe('Hello');
  });

  it('of an agent that answers with a message makes it a task', async () => {
    const child = serve(parrot);
    const server = serveParent(async (turn) => {
      if (turn.text === 'talk') return reply('No call');
      const { task } = await turn.call(child, turn.text, { name: 'word' });
      return reply(textOf(task?.artifacts?.[0]));
    });
    const client = await clientOf(server);
    expect(textOf((await client.send('talk')).message)).toBe('No call');
    const { task } = await client.send('polly');
    expect(textOf(task?.status.message)).toBe('polly');
  });

  it('runs beside other calls of the turn', async () => {
    const meeting = Promise.withResolvers<void>();
    let arrived = 0;
    const child = serve(async function* ({ text }) {
      arrived += 1;
      if (arrived === 2) meeting.resolve();
      await meeting.promise;
      yield completed(text);
    });
    const server = serveParent(async function* (turn) {
      const names = ['a', 'b'];
      const replies = await Promise.all(names.map((name) => turn.call(child, name, { name })));
      yield completed(replies.map(({ task }) => textOf(task?.status.message)).join(' '));
    });
    const { task } = await (await clientOf(server)).send('Both');
    expect(textOf(task?.status.message)).toBe('a b');
  });

  it('passes on what `relay` makes of events', async () => {
    const { task } = await (await clientOf(serveParent(asking(serve(parrot), { relay: relayAll })))).send(
      'polly',
    );
    expect(textOf(task?.artifacts?.[0])).toBe('polly');
  });

  it('passes on the progress of one child, and the mean of several', async () => {
    const { card, agent } = extend(
      {
        card: { name: 'Worker', description: 'Works' },
        async *agent() {
          yield working('Half', progress(2, 4));
          yield completed('Done');
        },
      },
      taskProgress,
    );
    const child = serve(agent, { card });
    const server = serveParent(async function* (turn) {
      await turn.call(child, 'One', { name: 'one' });
      await turn.call(child, 'Two', { name: 'two' });
      yield completed();
    });
    const seen: unknown[] = [];
    const { capabilities } = server.card;
    capabilities.extensions = [...(capabilities.extensions ?? []), { uri: TASK_PROGRESS }];
    for await (const event of (await clientOf(server)).stream('Go'))
      if (event.statusUpdate) seen.push(progressOf(event));
    expect(seen).toEqual([{ progress: 2, total: 4 }, { progress: 75, total: 100 }, undefined]);
  });

  it('whose reply is too long to be kept twice reads it again in a later turn', async () => {
    const child = serve(async function* () {
      yield artifact('long', file(Buffer.alloc(300_000)));
      yield completed();
    });
    const server = serveParent(async function* (turn) {
      const { task } = await turn.call(child, 'Long', { name: 'long' });
      const [part] = task!.artifacts![0]!.parts;
      const { length } = part && 'raw' in part ? part.raw : '';
      yield turn.text === 'again' ? completed(String(length)) : inputRequired(String(length));
    });
    const client = await clientOf(server);
    const { task } = await client.send('first');
    expect(textOf(task?.status.message)).toBe('400000');
    expect(textOf((await client.send('again', { task: task! })).task?.status.message)).toBe('400000');
    expect(await statesOf(child)).toEqual(['COMPLETED']);
  });

  it('that is made in every turn starts its child once, and returns the recorded reply', async () => {
    const child = serve(parrot);
    const server = serveParent(async function* (turn) {
      const { task } = await turn.call(child, turn.text, { name: 'word' });
      if (turn.messages.length === 1) yield inputRequired('And?');
      else yield completed(textOf(task?.artifacts?.[0]));
    });
    const client = await clientOf(server);
    const { task } = await client.send('first');
    // Its reply is in the log of the parent.
    await child.close({ graceMs: 0 });
    const { task: ended } = await client.send('second', { task: task! });
    expect(textOf(ended?.status.message)).toBe('first');
  });
});

describe('a call fails', () => {
  it('of a name that was used in the turn, or is none', async () => {
    const child = serve(parrot);
    const problems: unknown[] = [];
    const server = serveParent(async function* (turn) {
      for (const name of ['a', 'a', '', 'x'.repeat(201), 7 as never])
        await turn.call(child, 'Hi', { name }).catch((error) => problems.push(error.message));
      yield completed();
    });
    await (await clientOf(server)).send('Go');
    const unnamed = 'A call needs a `name` of 1 to 200 characters';
    expect(problems).toEqual(['The call "a" was used in this turn already', unnamed, unnamed, unnamed]);
  });

  it('at a place that is neither a URL nor a name', async () => {
    const problem = await failureOf(async function* (turn) {
      const error = await turn.call('nowhere', 'Hi', { name: 'a' }).catch((error) => error);
      yield failed(error.message);
    });
    expect(problem).toBe('"nowhere" is neither a URL nor a name in `agents`');
  });

  it('deeper than `depth`, of agents that call each other in a circle', async () => {
    let depth = 0;
    const server: ReturnType<typeof serveParent> = serveParent(
      async function* (turn) {
        depth += 1;
        const { task } = await turn.call(server, 'Down', { name: 'down' });
        yield task?.status.state === 'TASK_STATE_FAILED' ? failed(textOf(task.status.message)) : completed();
      },
      { depth: 3 },
    );
    const { task } = await (await clientOf(server)).send('Go');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task?.status.message)).toBe('The call "down" failed: tasks nest at most 3 deep');
    expect(depth).toBe(4);
  });

  it('beyond `calls` of a task, in all its turns', async () => {
    const child = serve(parrot);
    expect(
      await failureOf(
        async function* (turn) {
          for (const name of ['a', 'b', 'c']) await turn.call(child, 'Hi', { name });
          yield completed();
        },
        { calls: 2 },
      ),
    ).toBe('The call "c" failed: a task starts at most 2 others');
    expect(await tasksOf(child)).toHaveLength(2);
  });

  it('at an agent that stays out of reach', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await failureOf(asking(url), { unreachableMs: 100 })).toBe(
      'The call "word" failed: its agent cannot be reached',
    );
  });

  it('at an agent that refuses it, without the words of that agent', async () => {
    const closed = serve(parrot, { authenticate: () => undefined });
    const problem = await failureOf(asking(closed));
    expect(problem).toBe('The call "word" failed: its agent refused it (UNAUTHENTICATED)');
  });

  it('with an error that says which call it was', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    let error: unknown;
    const server = serveParent(
      async function* (turn) {
        await turn.call(url, 'Hi', { name: 'gone' }).catch((reason) => {
          error = reason;
        });
        yield completed();
      },
      { unreachableMs: 50 },
    );
    await (await clientOf(server)).send('Go');
    expect(CallError.is(error, 'UNREACHABLE')).toBe(true);
    expect(error).toMatchObject({ call: 'gone', code: 'UNREACHABLE' });
  });
});
