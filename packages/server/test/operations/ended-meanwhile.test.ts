import { GENERATION } from '@batonjs/protocol/headers';
import { type Commit, StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, completed, inputRequired } from '../../src/index.ts';
import { mustBeTheSame } from '../../src/operations/accept/receive.ts';

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
    server: serve(ask, { store, run: 'workers', cancelWaitMs: 1 }),
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
  const server = serve(ask, { preview: ['1.1'], generationWaitMs: 1, limits: { followersPerTask: 1 } });
  const active = { 'a2a-extensions': GENERATION };
  const { task } = await rpc(server, 'SendMessage', { message: say('go') }, active);
  for (let n = 0; n < 3; n++) {
    const params = { id: task.id, currentGeneration: task.generation };
    expect((await rpc(server, 'GetTask', params, active)).generation).toBe(task.generation);
  }
});
