import { buffer } from 'node:stream/consumers';
import { connect, dataOf, textOf } from '@batonjs/client';
import { type Agent, append, artifact, completed, inputRequired, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { serveOfficial } from '../../../../test/kit/official-server.ts';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type ParentProcess, startParent } from './parent-process.ts';
import { serveSilentAgent } from './silent-agent.ts';

/** A child over HTTP, and how often its agent began to work on a task. */
interface Child {
  readonly url: string;
  readonly runs: () => Promise<number>;
  /** Lets it finish. */
  release(): void;
}

async function serveChild(idempotency: boolean): Promise<Child> {
  const released = Promise.withResolvers<void>();
  let runs = 0;
  const agent: Agent = async function* ({ text, messages }) {
    if (messages.length === 1) runs += 1;
    if (text === 'ask') return yield inputRequired('Which one?');
    yield working('one');
    yield artifact('letters', 'a');
    if (text === 'hold') await released.promise;
    yield append('letters', 'b');
    yield working('two');
    yield completed(messages.length === 1 ? 'Done' : `Done with ${text}`);
  };
  const url = await listen(
    nodeHandler(serve(agent, { timeouts: { cancelGraceMs: 0 }, messages: { idempotency } })),
  );
  return { url, release: released.resolve, runs: async () => runs };
}

async function serveOfficialChild(): Promise<Child> {
  const { url, release } = await serveOfficial();
  const runs = async () => (await (await connect(url)).listTasks()).tasks.length;
  return { url, release, runs };
}

const children: Record<string, () => Promise<Child>> = {
  'with idempotency': () => serveChild(true),
  'without idempotency': () => serveChild(false),
  'on the official server': serveOfficialChild,
};

/** Sends the first message to a parent that dies while it deals with it, and starts the next process. */
async function throughDeath(parent: ParentProcess, text: string): Promise<string> {
  const { task } = await parent.client.send(text, { returnImmediately: true });
  await parent.died;
  await parent.restart();
  return task!.id;
}

const ending = async ({ client }: ParentProcess, id: string) => {
  const { task } = await client.follow(id).result();
  return task!;
};

// Each starts up to sixteen processes: the last, on the official server, runs in `test:long`.
describe.each(Object.entries(children).slice(0, repetitions(2, 3)))(
  'a child %s runs once when its parent is killed [R-SEED-18]',
  (kind, start) => {
    const isOfficial = kind === 'on the official server';
    const isShort = kind === 'without idempotency' && !repetitions(0, 1);

    it('before the message is sent, if it is known that it was not', async () => {
      const child = await start();
      const parent = await startParent(child.url, 'before the message');
      const task = await ending(parent, await throughDeath(parent, 'work'));
      if (kind === 'with idempotency') {
        expect(task.status.state).toBe('TASK_STATE_COMPLETED');
        expect(await child.runs()).toBe(1);
      } else {
        expect(dataOf(task.status.message)).toMatchObject({ code: 'CALL_OUTCOME_UNKNOWN' });
        expect(await child.runs()).toBe(0);
      }
    });

    it('after the message was sent, before its id is recorded', async () => {
      const child = await start();
      const parent = await startParent(child.url, 'after the message');
      const task = await ending(parent, await throughDeath(parent, 'work'));
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(await child.runs()).toBe(1);
    });

    // What was recorded is known, with it and without it.
    const points = ['before the answer', 'after the answer'].slice(0, isShort ? 1 : 2);
    it.each(points)('%s to its question is recorded', async (point) => {
      const child = await start();
      const parent = await startParent(child.url, point);
      const { task: asking } = await parent.client.send('ask');
      await parent.client.send('INR', { task: asking!, returnImmediately: true });
      await parent.died;
      await parent.restart();
      const task = await ending(parent, asking!.id);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      const [there, ...others] = (await (await connect(child.url)).listTasks({ historyLength: 100 })).tasks;
      expect(others).toEqual([]);
      const answers = there?.history?.filter((message) => textOf(message) === 'INR');
      expect(answers).toHaveLength(1);
    });

    // The rest is the same with it and without it.
    if (isShort) return;

    it('while it works, and the parent misses and repeats nothing', async () => {
      const child = await start();
      const parent = await startParent(child.url);
      const stream = parent.client.stream('hold');
      for await (const { artifactUpdate } of stream) if (artifactUpdate) break;
      await parent.kill();
      // The child ends while no parent lives.
      child.release();
      await parent.restart();
      const task = await ending(parent, stream.task!.id);
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(textOf(task.artifacts?.[0])).toBe(isOfficial ? '10 USD is 833 INR' : 'ab');
      const said = task.history
        ?.filter(({ role }) => role === 'ROLE_AGENT')
        .map((message) => textOf(message));
      expect(said).toEqual(isOfficial ? ['On it'] : ['one', 'two']);
      expect(await child.runs()).toBe(1);
    });

    it('while it asks', async () => {
      const child = await start();
      const parent = await startParent(child.url);
      const { task: asking } = await parent.client.send('ask');
      expect(asking?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      await parent.kill();
      await parent.restart();
      const { task } = await parent.client.send('INR', { task: asking! });
      expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
      expect(textOf(task?.status.message)).toBe(isOfficial ? 'Done' : 'Done with INR');
      expect(await child.runs()).toBe(1);
    });

    it('after it ended, before the parent recorded that', async () => {
      const child = await start();
      const parent = await startParent(child.url, 'at the end');
      const task = await ending(parent, await throughDeath(parent, 'work'));
      expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(textOf(task.artifacts?.[0])).toBe(isOfficial ? '10 USD is 833 INR' : 'ab');
      expect(await child.runs()).toBe(1);
    });
  },
);

it.each(['before the message', 'after the message', 'at the end'])(
  'a child in the process itself runs once when the process is killed %s',
  async (point) => {
    const parent = await startParent('local', point);
    const task = await ending(parent, await throughDeath(parent, 'work'));
    expect(textOf(task.status.message)).toBe('Done here');
    const { tasks } = await (await connect(parent.localUrl)).listTasks();
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED']);
  },
);

it('a child without idempotency may run twice where `resend` allows it', async () => {
  const child = await serveChild(false);
  // It cannot list its tasks, so that the one of the lost attempt is not found.
  const deaf = await listen(async (request, response) => {
    const body = await buffer(request);
    const isList = body.includes('"ListTasks"');
    const { host: _, ...headers } = request.headers as Record<string, string>;
    const init = { method: request.method!, headers, ...(body.length > 0 && { body }) };
    const url = `${child.url}${request.url}`;
    const answer = isList
      ? Response.json({
          jsonrpc: '2.0',
          id: JSON.parse(String(body)).id,
          error: { code: -32601, message: 'No' },
        })
      : await fetch(url, init);
    const type = answer.headers.get('content-type') ?? '';
    response.writeHead(answer.status, { 'content-type': type });
    const text = type.includes('json') ? (await answer.text()).replaceAll(child.url, deaf) : '';
    response.write(text);
    if (!text) for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  const refusing = await startParent(deaf, 'after the message');
  const refused = await ending(refusing, await throughDeath(refusing, 'work'));
  expect(dataOf(refused.status.message)).toMatchObject({ code: 'CALL_OUTCOME_UNKNOWN' });
  expect(await child.runs()).toBe(1);

  const parent = await startParent(deaf, 'after the message', { RESEND: 'true' });
  const task = await ending(parent, await throughDeath(parent, 'work'));
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(await child.runs()).toBe(3);
});

it('an answer is not sent again to an agent that has it in its history, but goes on asking', async () => {
  const child = await serveSilentAgent();
  const parent = await startParent(child.url, 'after the answer');
  const { task } = await parent.client.send('ask');
  await parent.client.send('INR', { task: task!, returnImmediately: true });
  await parent.died;
  await parent.restart();
  // The next process follows the child: it reads the task, and waits.
  await eventually(() => expect(child.followed()).toBe(true));
  child.finish();
  expect((await ending(parent, task!.id)).status.state).toBe('TASK_STATE_COMPLETED');
  expect(child.messages.map((message) => textOf(message))).toEqual(['ask', 'INR']);
});

it('a cancel right after the death of the process reaches the child', async () => {
  const child = await serveChild(true);
  const parent = await startParent(child.url);
  const stream = parent.client.stream('hold');
  for await (const { artifactUpdate } of stream) if (artifactUpdate) break;
  await parent.kill();
  await parent.restart();
  const { status } = await parent.client.cancelTask({ id: stream.task!.id });
  expect(status.state).toBe('TASK_STATE_CANCELED');
  const { tasks } = await (await connect(child.url)).listTasks();
  expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED']);
});
