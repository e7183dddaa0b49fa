import { once } from 'node:events';
import { connect, textOf } from '@batonjs/client';
import { treeOf } from '@batonjs/extensions/client';
import { CallError, type CallingAgent } from '@batonjs/nested-tasks';
import {
  type Agent,
  completed,
  failed,
  inputRequired,
  rejected,
  type TaskUpdate,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { serveOfficial } from '../../../test/kit/official-server.ts';
import { passableClock } from '../../../test/kit/passable-clock.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { clientOf, serveParent, statesOf, tasksOf } from './family.ts';

/** Works until it is canceled. */
const tireless: Agent = async function* ({ signal }) {
  yield working('Working');
  if (!signal.aborted) await once(signal, 'abort');
};

const asks: Agent = async function* ({ messages }) {
  if (messages.length === 1) return yield inputRequired('Which?');
  yield completed();
};

/** A parent that calls `callee`, and its task once the child works. */
async function running(callee: Parameters<typeof serveParent>[0], options: object = {}) {
  const server = serveParent(callee, {}, options);
  const client = await clientOf(server);
  const stream = client.stream('Go');
  for await (const { statusUpdate } of stream) if (textOf(statusUpdate?.status.message) === 'Working') break;
  return { server, client, id: stream.task!.id };
}

describe('a cancel of the parent', () => {
  it('cancels the children that run, and shows that in the tree', async () => {
    const child = serve(tireless);
    const { client, id } = await running(async function* (turn) {
      await Promise.all(['a', 'b'].map((name) => turn.call(child, name, { name })));
      yield completed();
    });
    await eventually(async () => expect(await statesOf(child)).toEqual(['WORKING', 'WORKING']));
    expect((await client.cancelTask({ id })).status.state).toBe('TASK_STATE_CANCELED');
    expect(await statesOf(child)).toEqual(['CANCELED', 'CANCELED']);
    const states = treeOf(await client.getTask({ id }))?.children.map(({ state }) => state);
    expect(states).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED']);
  });

  it('cancels them although the agent does not notice', async () => {
    const child = serve(tireless);
    const { client, id } = await running(
      async function* (turn) {
        void turn.call(child, 'Go', { name: 'child' });
        yield working('Waiting');
        await new Promise(() => {});
      },
      { timeouts: { cancelGraceMs: 300 } },
    );
    await client.cancelTask({ id });
    await eventually(async () => expect(await statesOf(child)).toEqual(['CANCELED']));
  });

  it('cancels a child whose question it waits with', async () => {
    const child = serve(asks);
    const server = serveParent(async function* (turn) {
      await turn.call(child, 'Go', { name: 'child' });
      yield completed();
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const canceled = await client.cancelTask({ id: task!.id });
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    expect(treeOf(canceled)?.children).toMatchObject([{ name: 'child', state: 'TASK_STATE_CANCELED' }]);
    expect(await statesOf(child)).toEqual(['CANCELED']);
  });

  it.each(['a name', 'a URL', 'nothing'])(
    'reaches an agent that another process called, where %s leads to it',
    async (what) => {
      const child = serve(asks);
      const store = memoryStore();
      const logged: string[] = [];
      const callee = what === 'a URL' ? await listen(nodeHandler(child)) : child;
      const nested = {
        ...(what === 'a name' && { agents: { child } }),
        logger: (_: string, message: string) => logged.push(message),
      };
      const agent: CallingAgent = async function* (turn) {
        await turn.call(callee, 'Go', { name: 'child' });
        yield completed();
      };
      const first = serveParent(agent, nested, { store });
      const { task } = await (await clientOf(first)).send('Go');
      await first.close({ graceMs: 0 });
      const second = await clientOf(serveParent(agent, nested, { store }));
      const { status } = await second.cancelTask({ id: task!.id });
      expect(status.state).toBe('TASK_STATE_CANCELED');
      const isReached = what !== 'nothing';
      expect(await statesOf(child)).toEqual([isReached ? 'CANCELED' : 'INPUT_REQUIRED']);
      expect(logged).toEqual(isReached ? [] : ['The child of a task could not be canceled']);
    },
  );

  it('reaches the grandchildren', async () => {
    const leaf = serve(tireless);
    const middle = serveParent(async function* (turn) {
      await turn.call(leaf, 'Go', { name: 'leaf' });
      yield completed();
    });
    const { client, id } = await running(async function* (turn) {
      await turn.call(middle, 'Go', { name: 'middle' });
      yield completed();
    });
    await client.cancelTask({ id });
    expect([await statesOf(middle), await statesOf(leaf)]).toEqual([['CANCELED'], ['CANCELED']]);
  });

  it('shows the end of a child that ended meanwhile', async () => {
    const child = serve(asks);
    const server = serveParent(async function* (turn) {
      await turn.call(child, 'Go', { name: 'child' });
      yield completed();
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    const [there] = await tasksOf(child);
    await (await clientOf(child)).send('This one', { task: there! });
    const canceled = await client.cancelTask({ id: task!.id });
    expect(treeOf(canceled)?.children).toMatchObject([{ name: 'child', state: 'TASK_STATE_COMPLETED' }]);
  });

  it.each([
    completed(),
    failed('No'),
    rejected('Never'),
    { status: { state: 'TASK_STATE_CANCELED' } },
  ] as TaskUpdate[])('asks no agent about a child that is known to have ended: %j', async (end) => {
    const child = serve(async function* () {
      yield end;
    });
    const waits = serve(asks);
    let requests = 0;
    const fetchCounted = (request: Request) => {
      requests += 1;
      return child.fetch(request);
    };
    const callee = await connect('http://localhost', { fetch: fetchCounted });
    const server = serveParent(async function* (turn) {
      await turn.call(callee, 'Go', { name: 'ended' });
      await turn.call(waits, 'Go', { name: 'waits' });
      yield completed();
    });
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    requests = 0;
    await client.cancelTask({ id: task!.id });
    expect(await statesOf(waits)).toEqual(['CANCELED']);
    expect(requests).toBe(0);
  });

  it('is not held up by an agent that cannot be reached', async () => {
    const url = await listen(nodeHandler(serve(tireless)));
    const gone = `http://127.0.0.1:${await freePort()}`;
    const logged: string[] = [];
    let isGone = false;
    const fetchOrFail = (request: Request) => fetch(isGone ? new Request(gone, request) : request);
    const callee = await connect(url, { fetch: fetchOrFail, retry: false });
    const server = serveParent(
      async function* (turn) {
        await turn.call(callee, 'Go', { name: 'child' });
        yield completed();
      },
      { cancelMs: 200, logger: (_, message) => logged.push(message) },
    );
    const client = await clientOf(server);
    const stream = client.stream('Go');
    for await (const { statusUpdate } of stream)
      if (textOf(statusUpdate?.status.message) === 'Working') break;
    isGone = true;
    const task = await client.cancelTask({ id: stream.task!.id });
    expect(task.status.state).toBe('TASK_STATE_CANCELED');
    expect(logged).toEqual(['The child of a task could not be canceled']);
  });

  it('is not held up by an agent that is connected for it, and does not give its card', async () => {
    const url = await listen(nodeHandler(serve(asks)));
    const [store, logged] = [memoryStore(), [] as string[]];
    const agent: CallingAgent = async function* (turn) {
      await turn.call(url, 'Go', { name: 'child' });
      yield completed();
    };
    const first = serveParent(agent, {}, { store });
    const { task } = await (await clientOf(first)).send('Go');
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await first.close();
    const silent = {
      connect: () => new Promise<never>(() => {}),
      cancelMs: 200,
      logger: (_: unknown, message: string) => logged.push(message),
    };
    const next = await clientOf(serveParent(agent, silent, { store }));
    expect((await next.cancelTask({ id: task!.id })).status.state).toBe('TASK_STATE_CANCELED');
    await eventually(() => expect(logged).toEqual(['The child of a task could not be canceled']));
  });

  it('cancels a task at the official server', async () => {
    const { url } = await serveOfficial();
    const server = serveParent(async function* (turn) {
      await turn.call(url, 'hold', { name: 'child' });
      yield completed();
    });
    const client = await clientOf(server);
    const stream = client.stream('Go');
    for await (const { statusUpdate } of stream) if (textOf(statusUpdate?.status.message) === 'On it') break;
    await client.cancelTask({ id: stream.task!.id });
    const { tasks } = await (await connect(url)).listTasks();
    expect(tasks.map(({ status }) => status.state)).toEqual(['TASK_STATE_CANCELED']);
  });
});

describe('the deadline of the parent', () => {
  it('cancels the children when it passes while a turn runs', async () => {
    const { clock, pass } = passableClock();
    const child = serve(tireless);
    const server = serveParent(
      async function* (turn) {
        await turn.call(child, 'Go', { name: 'child' });
        yield completed();
      },
      {},
      { clock, timeouts: { taskMs: 60_000 } },
    );
    const sent = (await clientOf(server)).send('Go');
    await eventually(async () => expect(await statesOf(child)).toEqual(['WORKING']));
    pass(60_000);
    const { task } = await sent;
    expect(textOf(task?.status.message)).toBe('The task took too long');
    expect(treeOf(task!)?.children).toMatchObject([{ name: 'child', state: 'TASK_STATE_CANCELED' }]);
    // Before the parent ended.
    expect(await statesOf(child)).toEqual(['CANCELED']);
  });

  it('cancels a child whose question the parent waits with', async () => {
    const child = serve(asks);
    const server = serveParent(
      async function* (turn) {
        await turn.call(child, 'Go', { name: 'child' });
        yield completed();
      },
      {},
      { timeouts: { interruptedMs: 300 } },
    );
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    const { task: ended } = await client.follow(task!).result();
    expect(ended?.status.state).toBe('TASK_STATE_FAILED');
    expect(await statesOf(child)).toEqual(['CANCELED']);
  });
});

describe('the end of the parent', () => {
  it.each([
    ['its agent', 'TASK_STATE_COMPLETED'],
    ['an error of its agent', 'TASK_STATE_FAILED'],
  ])('by %s cancels the children that still run, before it', async (_, state) => {
    const child = serve(tireless);
    const server = serveParent(async function* (turn) {
      void turn.call(child, 'Go', { name: 'child' });
      while (turn.children.child?.state !== 'TASK_STATE_WORKING') yield* pause();
      if (state === 'TASK_STATE_FAILED') throw new Error('A bug');
      yield completed('Without it');
    });
    const { task } = await (await clientOf(server)).send('Go');
    expect(task?.status.state).toBe(state);
    expect(await statesOf(child)).toEqual(['CANCELED']);
  });
});

describe('`timeoutMs` of a call', () => {
  it('cancels the child, and the call fails', async () => {
    const child = serve(tireless);
    const server = serveParent(async function* (turn) {
      const error = await turn.call(child, 'Go', { name: 'child', timeoutMs: 2_000 }).catch((error) => error);
      expect(CallError.is(error, 'TIMEOUT')).toBe(true);
      // Before the parent ends, which cancels it as well.
      expect(await statesOf(child)).toEqual(['CANCELED']);
      yield failed(error.message);
    });
    const { task } = await (await clientOf(server)).send('Go');
    expect(textOf(task?.status.message)).toBe('The call "child" failed: its task took longer than 2000 ms');
  });
});

/** Lets other things happen. */
async function* pause() {
  await new Promise((resolve) => setTimeout(resolve, 5));
}
