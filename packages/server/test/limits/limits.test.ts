import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, artifact, completed, inputRequired, text, working } from '../../src/index.ts';
import { createWorker } from '../../src/worker.ts';

const now = { returnImmediately: true };

/** An error that says when to try again. */
const pause = (retryDelay: string) => ({
  error: { data: expect.arrayContaining([expect.objectContaining({ retryDelay })]) },
});

describe('turns', () => {
  it('run no more at once than the limit, and all run in the end', async () => {
    let running = 0;
    let most = 0;
    const store = memoryStore();
    const agent: Agent = async function* () {
      most = Math.max(most, ++running);
      for (let n = 0; n < 5; n++) yield working(String(n));
      running--;
      yield completed();
    };
    const server = serve(agent, { store, limits: { turns: 3 } });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => rpc(server, 'SendMessage', { message: say('go') })),
    );
    expect(answers.map(({ task }) => task.status.state)).toEqual(Array(40).fill('TASK_STATE_COMPLETED'));
    expect(most).toBe(3);
  });

  it('of follow-ups count, too', async () => {
    let running = 0;
    let most = 0;
    const agent: Agent = async function* ({ messages }) {
      most = Math.max(most, ++running);
      for (let n = 0; n < 5; n++) yield working(String(n));
      running--;
      yield messages.length === 1 ? inputRequired('Well?') : completed();
    };
    const server = serve(agent, { limits: { turns: 2 } });
    const start = () => rpc(server, 'SendMessage', { message: say('go') });
    const tasks = await Promise.all(Array.from({ length: 10 }, start));
    const follow = ({ task }: { task: { id: string } }) =>
      rpc(server, 'SendMessage', { message: say('on', { taskId: task.id }) });
    const ended = await Promise.all(tasks.map(follow));
    expect(ended.map(({ task }) => task.status.state)).toEqual(Array(10).fill('TASK_STATE_COMPLETED'));
    expect(most).toBe(2);
  });

  it('that wait are limited: beyond that, sends are refused and say when to try again', async () => {
    const store = memoryStore();
    const agent: Agent = async function* () {
      yield completed();
    };
    const front = serve(agent, { store, run: 'workers', limits: { queuedTurns: 2 } });
    const waiting = [1, 2].map(() => rpc(front, 'SendMessage', { message: say('go') }));
    await vi.waitFor(async () => expect(await store.waiting('agent')).toBe(2));
    const refused = rpc(front, 'SendMessage', { message: say('go') });
    await expect(refused).rejects.toMatchObject({ reason: 'RESOURCE_EXHAUSTED', ...pause('1s') });
    expect(await store.waiting('agent')).toBe(2);
    closedAfterTest(createWorker({ agent, store, logger: () => {} }));
    for (const { task } of await Promise.all(waiting)) expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await rpc(front, 'SendMessage', { message: say('go') })).task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
  });
});

describe('a task', () => {
  it.each([
    ['facts', { factsPerTask: 20 }],
    ['bytes', { bytesPerTask: 5_000 }],
  ])('takes no more than so many %s, and can still be ended', async (_what, limits) => {
    let refusal: unknown;
    let put = 0;
    const server = serve(
      async function* () {
        try {
          for (; put < 1_000; put++) yield artifact({ artifactId: 'out' }, text(`${put}`.padEnd(200)));
        } catch (error) {
          refusal = error;
        }
        yield completed('as far as it went');
      },
      { limits },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(refusal).toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
    expect(put).toBeGreaterThan(5);
    expect(put).toBeLessThan(30);
  });

  it('has no more followers than the limit; one that leaves makes room', async () => {
    const server = serve(
      async function* () {
        yield working();
        await new Promise(() => {});
      },
      { limits: { followersPerTask: 2 } },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    const follow = () => stream(server, 'SubscribeToTask', { id: task.id });
    const [one, two, three] = [follow(), follow(), follow()];
    await one.next();
    await two.next();
    await expect(three.next()).rejects.toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
    const refused = rpc(server, 'SubscribeToTask', { id: task.id });
    await expect(refused).rejects.toMatchObject(pause('5s'));
    await one.return(undefined);
    const four = await vi.waitFor(async () => {
      const again = follow();
      await again.next();
      return again;
    });
    await Promise.all([two, four].map((follower) => follower.return(undefined)));
  });
});
