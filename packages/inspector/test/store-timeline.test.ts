import { createAgentServer, type Turn, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { until } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import type { Beside, Entry, TimelineUpdate } from '../src/api/timeline.ts';
import { Inspection } from '../src/inspection.ts';
import { storeTimeline } from '../src/timeline/store-timeline.ts';
import { showAgent } from './show-agent.ts';

/** A task of an agent, and a function that reads its timeline until something is in it. */
async function logged(text: string, agent = showAgent(async () => {}).agent) {
  const store = memoryStore();
  const card = { name: 'Show', description: 'Shows' };
  const server = closedAfterTest(
    createAgentServer({
      card,
      agent,
      name: 'show',
      store,
      logger: () => {},
      push: { allow: ['127.0.0.1:*'], retry: { maxAttempts: 2, baseDelayMs: 1 } },
    }),
  );
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] };
  const { task } = (await rpc(server, 'SendMessage', {
    message,
    configuration: { returnImmediately: true },
  })) as {
    task: { id: string };
  };
  const exhibit = new Inspection([{ server }]).agent('show');
  async function read(
    known: { after: number; source: string | null },
    isEnough: (entry: Entry) => boolean,
    isSeen: (beside: Beside) => boolean = () => false,
  ) {
    const reading = new AbortController();
    const updates: TimelineUpdate[] = [];
    const { scope } = exhibit.store!.scopes[0]!;
    for await (const update of storeTimeline(exhibit.store!, scope, task.id, known, reading.signal)) {
      updates.push(update);
      if (update.type === 'entries' && update.entries.some(isEnough)) reading.abort();
      if (update.type === 'beside' && isSeen(update.beside)) reading.abort();
    }
    const entries = updates.flatMap((update) => (update.type === 'entries' ? update.entries : []));
    const besides = updates.flatMap((update) => (update.type === 'beside' ? update.beside : []));
    return {
      open: updates[0],
      entries,
      besides,
      seqs: entries.filter(({ fact }) => fact).map(({ seq }) => seq),
    };
  }
  return { server, store, id: task.id, read, exhibit, scope: exhibit.store!.scopes[0]!.scope };
}

const isCompleted = ({ fact }: Entry) =>
  fact?.type === 'status-changed' && fact.status.state === 'TASK_STATE_COMPLETED';

it('has every fact of the log at its position, and goes on after any of them', async () => {
  const { server, store, id, read } = await logged('chunks 4');
  await until(server, id, 'COMPLETED');
  const source = await store.identity();
  const whole = await read({ after: 0, source: null }, isCompleted);
  expect(whole.open).toEqual({
    type: 'open',
    source,
    kind: 'log',
    isRestart: false,
    now: expect.any(Number),
  });
  expect(whole.seqs).toEqual(whole.seqs.map((_, index) => index + 1));
  expect((await read({ after: 6, source }, isCompleted)).seqs).toEqual(whole.seqs.slice(6));
});

it('has the lease of the running turn beside the log, each change once, and its end', async () => {
  const { server, id, read } = await logged('x', async function* ({ signal }: Turn) {
    yield working();
    await untilAborted(signal);
  });
  const never = () => false;
  const running = await read({ after: 0, source: null }, never, ({ lease }) => lease !== undefined);
  expect(running.besides.at(-1)?.lease).toMatchObject({ fence: 1, holder: expect.any(String) });
  let canceled: Promise<unknown> | undefined;
  const reading = read({ after: 0, source: null }, never, ({ lease }) => {
    if (lease?.holder) canceled ??= rpc(server, 'CancelTask', { id });
    return canceled !== undefined && !lease;
  });
  const { besides, entries } = await reading;
  expect(besides.at(-1)?.lease).toBeUndefined();
  // What was noticed is no part of the history, which is the same whenever it is read.
  expect(entries.every(({ fact }) => fact)).toBe(true);
  await canceled;
});

it.each<[what: string, after: number, store: string | undefined, isRestart: boolean, first: number]>([
  ['a reader who knows nothing', 0, 'other', false, 1],
  ['a reader of the whole log', 3, undefined, false, 4],
  ['a reader who knows more than there is', 99, undefined, true, 1],
  ['a reader of another store', 2, 'other', true, 1],
])('goes on or begins again for %s', async (_what, after, other, isRestart, first) => {
  const { server, store, id, read } = await logged('ask');
  const reading = read({ after, source: other ?? (await store.identity()) }, isCompleted);
  await rpc(server, 'SendMessage', { message: { ...say('blue'), taskId: id } });
  const { open, seqs } = await reading;
  expect([open, seqs[0]]).toMatchObject([{ type: 'open', isRestart }, first]);
});

it('has the webhooks beside the log, without their secrets, and says that one was given up', async () => {
  const { server, id, read } = await logged('ask');
  const url = `http://127.0.0.1:${await freePort()}`;
  await rpc(server, 'CreateTaskPushNotificationConfig', {
    taskId: id,
    id: 'w',
    url: `${url}/secret?key=secret`,
  });
  const never = () => false;
  const reading = read({ after: 0, source: null }, never, ({ deliveries }) => Boolean(deliveries[0]?.dead));
  await rpc(server, 'SendMessage', { message: { ...say('blue'), taskId: id } });
  const { deliveries } = (await reading).besides.at(-1)!;
  const [cursor, text] = [expect.any(Number), expect.any(String)];
  expect(deliveries).toStrictEqual([{ id: 'w', url, cursor, attempts: 1, retryAt: text, dead: text }]);
});

it('says that there is no such task', async () => {
  const { exhibit, scope } = await logged('ask');
  const reading = storeTimeline(
    exhibit.store!,
    scope,
    'none',
    { after: 0, source: null },
    AbortSignal.any([]),
  );
  const updates: TimelineUpdate[] = [];
  for await (const update of reading) updates.push(update);
  expect(updates).toEqual([{ type: 'problem', message: 'The store has no task none' }]);
});

it('says for which version its turn waits', async () => {
  const { exhibit, scope, id } = await logged('ask');
  const store = { ...exhibit.store!, unserved: { versionFor: async () => 'one' } as never };
  let beside: Beside | undefined;
  for await (const update of storeTimeline(
    store,
    scope,
    id,
    { after: 0, source: null },
    AbortSignal.any([]),
  )) {
    if (update.type === 'beside') ({ beside } = update);
    if (beside) break;
  }
  expect(beside?.waitsFor).toEqual({ version: 'one', queue: 'show' });
});
