import { randomUUID } from 'node:crypto';
import { connect } from '@batonjs/client';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  append,
  artifact,
  completed,
  inputRequired,
  text,
} from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { redisStore } from '@batonjs/store-redis';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { brief, rpc, say, stream } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { until } from '../kit/until.ts';
import { canStart, startRedis } from '../support/redis.ts';

// Without the append-only file: after a kill it begins with its last dump.
const redis = (await canStart()) ? await startRedis({ args: ['--appendonly', 'no'] }) : undefined;
afterAll(() => redis?.stop());

const now = { configuration: { returnImmediately: true } };
const slowly = { timeout: 10_000, interval: 10 };
const never = 3_600_000;

interface Logged {
  readonly level: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A server on a part of Redis of its own, or on that of another one, and what it logs. */
function serveOnRedis(agent: Agent, options: Partial<AgentServerOptions> & { prefix?: string } = {}) {
  const { prefix = randomUUID(), ...rest } = options;
  const store = closedAfterTest(redisStore({ url: redis!.url, prefix, timeoutMs: 10_000 }));
  const logged: Logged[] = [];
  const server = serve(agent, {
    logger: (level, message, details) => logged.push({ level, message, details }),
    restart: 'rerun',
    store,
    ...rest,
    timeouts: { leaseMs: 1_000, sweepMs: 50, storeMs: 15_000, ...rest.timeouts },
  });
  const errors = (message: string) =>
    logged.filter((one) => one.level === 'error' && one.message === message);
  return { server, prefix, errors };
}

/** The events of a follower, and the error that ends it. */
function follow(server: AgentServer, id: string, lastEventId?: string) {
  const seen: string[] = [];
  const ids: string[] = [];
  const ended = (async () => {
    const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    for await (const { id: position, event } of stream(server, 'SubscribeToTask', { id }, headers)) {
      seen.push(brief(event));
      ids.push(position ?? '');
    }
  })().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { seen, ids, ended };
}

/** An agent whose first attempt says a, b, c and d one by one, as the test asks for; the next one says `again` and completes. */
function stepwise() {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gate = (name: string) => {
    const known = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, known);
    return known;
  };
  const aborted: unknown[] = [];
  const agent: Agent = async function* ({ attempt, signal }) {
    if (attempt > 1) {
      yield artifact('out', text('again'));
      yield completed();
      return;
    }
    signal.addEventListener('abort', () => aborted.push(signal.reason));
    for (const name of ['a', 'b', 'c', 'd']) {
      await gate(name).promise;
      yield name === 'a' ? artifact('out', text(name)) : append('out', text(name));
    }
    yield inputRequired('Well?');
  };
  const open = (...names: string[]) => {
    for (const name of names) gate(name).resolve();
  };
  return { agent, aborted, open };
}

const start = async (server: AgentServer): Promise<string> =>
  (await rpc(server, 'SendMessage', { message: say('go'), ...now })).task.id;

const lost = { reason: 'UNAVAILABLE', message: expect.stringContaining('lost') };

describe.skipIf(!redis)('When Redis begins again with an older dump', () => {
  /** A task that was at `a` when Redis was dumped and at `c` when it was killed. */
  async function overtake(options: Partial<AgentServerOptions> = {}) {
    const steps = stepwise();
    const { server, prefix, errors } = serveOnRedis(steps.agent, options);
    const id = await start(server);
    const follower = follow(server, id);
    await vi.waitFor(() => expect(follower.seen).toHaveLength(1), slowly);
    steps.open('a');
    await vi.waitFor(() => expect(follower.seen.at(-1)).toBe('out:a'), slowly);
    await redis!.cli('SAVE');
    steps.open('b', 'c');
    await vi.waitFor(() => expect(follower.seen.at(-1)).toBe('out:c'), slowly);
    return { steps, server, prefix, errors, id, follower };
  }

  it('the turn is stopped, its followers get an error, the loss is logged, and the task runs again', async () => {
    const { steps, server, errors, id, follower } = await overtake();
    await redis!.restart();
    expect(await follower.ended).toMatchObject(lost);
    await vi.waitFor(() => expect(steps.aborted).toMatchObject([{ code: 'FENCED' }]), slowly);
    const task = await until(server, id, 'COMPLETED');
    expect(JSON.stringify(task.artifacts)).toContain('again');
    expect(errors('The store lost facts of a task').map(({ details }) => details)).toMatchObject([
      { taskId: id, knownVersion: 6, storedVersion: 4 },
    ]);
    expect(errors('The store was emptied or replaced: the tasks it held are gone')).toEqual([]);
    await vi.waitFor(() => expect(server.load).toEqual({ turns: 0, tasks: 0 }), slowly);
  });

  it('the turn finds out when it writes, though no server sweeps', async () => {
    const { steps, server, errors, id, follower } = await overtake({
      timeouts: { sweepMs: never, leaseMs: 2_000 },
    });
    await redis!.restart();
    steps.open('d');
    expect(await follower.ended).toMatchObject(lost);
    await until(server, id, 'COMPLETED');
    expect(errors('The store lost facts of a task')).toHaveLength(1);
  });

  it('the server that claims the task finds out, though it does not sweep and followers keep the task in memory', async () => {
    const { steps, server, errors, id, follower } = await overtake({ timeouts: { sweepMs: never } });
    steps.open('d');
    await vi.waitFor(() => expect(follower.seen.at(-1)).toBe('INPUT_REQUIRED'), slowly);
    await vi.waitFor(() => expect(server.load.turns).toBe(0), slowly);
    await redis!.restart();
    expect(await follower.ended).toMatchObject(lost);
    await until(server, id, 'COMPLETED');
    expect(errors('The store lost facts of a task')).toHaveLength(1);
  });

  it('blocking requests end with an error as well, and later requests are answered from the log', async () => {
    const { steps, server, id } = await overtake({ timeouts: { cancelGraceMs: never } });
    const blocked = rpc(server, 'SendMessage', { message: say('more', { taskId: id }) }).catch(
      (error) => error,
    );
    await vi.waitFor(async () => {
      const { history } = await rpc(server, 'GetTask', { id });
      expect(JSON.stringify(history)).toContain('more');
    }, slowly);
    const canceling = rpc(server, 'CancelTask', { id }).catch((error) => error);
    await vi.waitFor(() => expect(steps.aborted).toMatchObject([{ code: 'CANCELED' }]), slowly);
    await redis!.restart();
    expect(await blocked).toMatchObject({ reason: 'UNAVAILABLE' });
    expect(await canceling).toMatchObject({ reason: 'UNAVAILABLE' });
    expect(JSON.stringify(await until(server, id, 'COMPLETED'))).not.toContain('more');
  });

  it('a position of the lost past is answered with the task, even when the log has grown beyond it', async () => {
    const { server, prefix, id, follower } = await overtake();
    const [position] = follower.ids.slice(-1);
    await redis!.restart();
    await follower.ended;
    await until(server, id, 'COMPLETED');
    const other = serveOnRedis(stepwise().agent, { prefix }).server;
    for (const from of [server, other]) {
      const resumed = follow(from, id, position);
      expect(await resumed.ended).toBeUndefined();
      expect(resumed.seen).toEqual(['task COMPLETED']);
      // What the log still has is a place to go on from.
      const kept = follow(from, id, resumed.ids[0]);
      expect(await kept.ended).toBeUndefined();
      expect(kept.seen).toEqual([]);
      const early = follow(
        from,
        id,
        follower.ids.find((_, n) => follower.seen[n] === 'out:a'),
      );
      await early.ended;
      expect(early.seen).toEqual(['out:again', 'COMPLETED']);
      // As ids were written by earlier releases.
      const unmarked = follow(from, id, position!.replace(/~.*/, ''));
      expect(await unmarked.ended).toBeUndefined();
      expect(unmarked.seen).toEqual(['task COMPLETED']);
    }
  });

  it('our client goes on with what the task became', async () => {
    const steps = stepwise();
    const { server } = serveOnRedis(steps.agent);
    const { url, close } = await listen(server, { port: 0 });
    onTestFinished(() => close());
    const client = await connect(url);
    const id = await start(server);
    const following = client.follow(id);
    const events = following[Symbol.asyncIterator]();
    const untilItSays = async (said: string) => {
      while (!JSON.stringify(following.task ?? {}).includes(`"${said}"`)) await events.next();
    };
    steps.open('a');
    await untilItSays('a');
    await redis!.cli('SAVE');
    steps.open('b', 'c');
    await untilItSays('c');
    await redis!.restart();
    while (!(await events.next()).done);
    expect(following.task).toEqual(await rpc(server, 'GetTask', { id }));
    expect(following.task?.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe.skipIf(!redis)('When Redis is emptied', () => {
  it('every server says so, followers get an error, turns are stopped, and new tasks work', async () => {
    const steps = stepwise();
    const { server, prefix, errors } = serveOnRedis(steps.agent);
    const other = serveOnRedis(steps.agent, { prefix, run: 'workers' });
    const id = await start(server);
    const followers = [server, other.server].map((one) => follow(one, id));
    for (const { seen } of followers) await vi.waitFor(() => expect(seen).toHaveLength(1), slowly);
    steps.open('a');
    for (const { seen } of followers) await vi.waitFor(() => expect(seen.at(-1)).toBe('out:a'), slowly);
    await redis!.cli('FLUSHALL');
    for (const { ended } of followers) expect(await ended).toMatchObject(lost);
    for (const heard of [errors, other.errors]) {
      const emptied = () => heard('The store was emptied or replaced: the tasks it held are gone');
      await vi.waitFor(() => expect(emptied()).toHaveLength(1), slowly);
      const lostFacts = () => heard('The store lost facts of a task').map(({ details }) => details);
      await vi.waitFor(() => expect(lostFacts()).toMatchObject([{ taskId: id, storedVersion: 0 }]), slowly);
    }
    await vi.waitFor(() => expect(steps.aborted).toMatchObject([{ code: 'FENCED' }]), slowly);
    const gone = { reason: 'TASK_NOT_FOUND' };
    await expect(rpc(server, 'GetTask', { id })).rejects.toMatchObject(gone);
    await expect(rpc(server, 'CancelTask', { id })).rejects.toMatchObject(gone);
    expect(await follow(server, id, followers[0]!.ids.at(-1)).ended).toMatchObject(gone);
    steps.open('b', 'c', 'd');
    const { task } = await rpc(server, 'SendMessage', { message: say('again') });
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });
});
