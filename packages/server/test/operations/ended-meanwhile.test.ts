import { GENERATION } from '@batonjs/protocol/headers';
import { type Commit, StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, completed, inputRequired, reply } from '../../src/index.ts';
import { mustBeTheSame } from '../../src/operations/accept/receive.ts';
import { wakeKeyOf } from '../../src/turns/order/wake-time.ts';

/** Asks, and does what it is told then. */
const ask: Agent = async function* ({ messages }) {
  yield messages.length === 1 ? inputRequired('Well?') : completed();
};

/** A task that waits for an answer, and a server on whose store something happens just before it commits to the task. */
async function waiting(before: (other: ReturnType<typeof serve>, id: string) => Promise<unknown>) {
  const memory = memoryStore();
  const other = serve(ask, { store: memory });
  const { task } = await rpc(other, 'SendMessage', { message: say('go') });
  const commits: Commit[] = [];
  let isDone = false;
  const store = change(memory, {
    commit: (commit) => async (one) => {
      if (one.taskId === task.id && !isDone) {
        isDone = true;
        await before(other, task.id);
      }
      commits.push(one);
      return commit(one);
    },
  });
  return {
    id: task.id as string,
    memory,
    commits,
    server: serve(ask, { store, run: 'workers', timeouts: { cancelMs: 1 } }),
  };
}

const answer = (server: ReturnType<typeof serve>, taskId: string) =>
  rpc(server, 'SendMessage', { message: say('so', { taskId }) });
const cancel = (server: ReturnType<typeof serve>, id: string) => rpc(server, 'CancelTask', { id });

it('a cancel of a task that was completed meanwhile is refused as that, and of a canceled one shows it', async () => {
  const completing = await waiting(answer);
  await expect(cancel(completing.server, completing.id)).rejects.toMatchObject({
    reason: 'TASK_NOT_CANCELABLE',
  });
  const canceling = await waiting(cancel);
  expect((await cancel(canceling.server, canceling.id)).status.state).toBe('TASK_STATE_CANCELED');
});

it('an answer to a task that ended meanwhile is refused as one to a finished task', async () => {
  const { server, id } = await waiting(cancel);
  await expect(answer(server, id)).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
});

it.each(['FENCED', 'QUEUE_FULL', 'UNUSABLE'] as const)(
  'a store that fails otherwise is not taken for a task that ended: %s',
  async (code) => {
    const fail = () => Promise.reject(new StoreError(code, code));
    for (const call of [answer, cancel]) {
      const { server, id } = await waiting(fail);
      await expect(call(server, id)).rejects.not.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
      await expect(call((await waiting(fail)).server, id)).rejects.toBeDefined();
    }
  },
);

it('a cancel is written once, with what its client said of it', async () => {
  const { server, id, commits, memory } = await waiting(async () => {});
  const metadata = { why: 'too slow' };
  await rpc(server, 'CancelTask', { id, metadata });
  await cancel(server, id);
  expect(commits).toHaveLength(1);
  const facts = (await memory.readFacts(scope, id, 0, 100)).map(({ fact }) => fact);
  expect(facts.filter(({ type }) => type === 'cancel-requested')).toMatchObject([{ metadata }]);
  const other = await waiting(async () => {});
  await cancel(other.server, other.id);
  expect(other.commits[0]?.facts[0]).not.toHaveProperty('metadata');
});

it('a message is compared with nothing where its log was deleted meanwhile', () => {
  const receive = { type: 'receive', message: say('go') } as const;
  expect(() => mustBeTheSame(undefined, receive, 't')).toThrow(
    expect.objectContaining({ reason: 'MESSAGE_ID_CONFLICT' }),
  );
});

it('long polls that are over give their place to others', async () => {
  const server = serve(ask, {
    compatibility: ['1.1'],
    timeouts: { generationMs: 1 },
    limits: { followersPerTask: 1 },
  });
  const active = { 'a2a-extensions': GENERATION };
  const { task } = await rpc(server, 'SendMessage', { message: say('go') }, active);
  for (let n = 0; n < 3; n++) {
    const params = { id: task.id, currentGeneration: task.generation };
    expect((await rpc(server, 'GetTask', params, active)).generation).toBe(task.generation);
  }
});

it('a wake-up of a task that ended meanwhile is refused as that, and a store that fails is no end', async () => {
  const wakeKey = (id: string) => wakeKeyOf(scope, id);
  const ended = await waiting(cancel);
  await expect(ended.server.wake(wakeKey(ended.id))).rejects.toMatchObject({
    reason: 'UNSUPPORTED_OPERATION',
    message: 'The task is finished',
  });
  const error = new StoreError('UNUSABLE', 'broken');
  const broken = await waiting(() => Promise.reject(error));
  await expect(broken.server.wake(wakeKey(broken.id))).rejects.toBe(error);
  await expect(broken.server.wake(wakeKey('none'))).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
});

it('a message that is refused is refused before anything is written', async () => {
  const { server, id, commits } = await waiting(async () => {});
  const wrong = [say('so', { taskId: id, contextId: 'other' }), say('so', { taskId: 'none' })];
  for (const message of wrong) await expect(rpc(server, 'SendMessage', { message })).rejects.toBeDefined();
  const over = serve(ask, { store: memoryStore() });
  const { task } = await rpc(over, 'SendMessage', { message: say('go') });
  await cancel(over, task.id);
  const taskPushNotificationConfig = { url: 'https://93.184.216.34/' };
  const params = { message: say('so', { taskId: task.id }), configuration: { taskPushNotificationConfig } };
  await expect(rpc(over, 'SendMessage', params)).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  expect(commits).toEqual([]);
});

it('a message that would begin a task is refused where too many wait, and leaves nothing; a repeated one is not', async () => {
  const store = memoryStore();
  const server = serve(ask, {
    store,
    run: 'workers',
    messages: { idempotency: true },
    limits: { queuedTurns: 1 },
  });
  const send = (messageId: string) =>
    rpc(server, 'SendMessage', {
      message: say('go', { messageId }),
      configuration: { returnImmediately: true },
    });
  const { task } = await send('first');
  await expect(send('second')).rejects.toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
  expect(await send('first')).toMatchObject({ task: { id: task.id } });
  expect((await store.list(scope, { limit: 10 })).total).toBe(1);
});

it('a canceled task is shown as other replies show it: its generation, and its last words where they belong', async () => {
  const active = { 'a2a-extensions': GENERATION };
  for (const currentStatusInHistory of [true, false]) {
    const server = serve(ask, { compatibility: ['1.1'], messages: { currentStatusInHistory }, run: 'here' });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') }, active);
    const canceled = await rpc(server, 'CancelTask', { id: task.id }, active);
    expect(canceled).toEqual(await rpc(server, 'GetTask', { id: task.id }, active));
    expect(Number(canceled.generation)).toBeGreaterThan(Number(task.generation));
  }
});

it('of a log that became neither task nor answer a task is made once, however often that is asked', async () => {
  const gate = Promise.withResolvers<void>();
  const memory = memoryStore();
  const server = serve(
    async () => {
      await gate.promise;
      return reply('Hi');
    },
    { store: memory, timeouts: { taskMs: 60_000 }, messages: { idempotency: true } },
  );
  const params = { message: say('go'), configuration: { returnImmediately: true } };
  const [one, other] = await Promise.all([
    rpc(server, 'SendMessage', params),
    rpc(server, 'SendMessage', params),
  ]);
  expect(one.task.id).toBe(other.task.id);
  const facts = (await memory.readFacts(scope, one.task.id, 0, 100)).map(({ fact }) => fact.type);
  expect(facts.filter((type) => type === 'task-created')).toHaveLength(1);
  // Another process ends it in time if this one dies.
  const { head, facts: known } = (await memory.load(scope, one.task.id))!;
  expect(Date.parse(head.dueAt!) - Date.parse(known[0]!.fact.at)).toBe(60_000);
  gate.resolve();
});
