import assert from 'node:assert/strict';
import type { QueueReading } from '@batonjs/store';
import { type Fixture, section } from '../../fixture/check.ts';
import { refuses, same } from '../../fixture/expectations.ts';
import { at, chunk, completed, created, received, status, working } from '../../samples/facts.ts';
import { type Log, logOf } from '../../samples/log.ts';
import { acquire, claim, dueAfter, release, wanted, writer } from '../../samples/turns.ts';

const queue = 'q';
const asks = status('TASK_STATE_INPUT_REQUIRED');

/** A reading whose times are left out; each was none or more than none. */
async function countsOf({ second }: Fixture, of = queue): Promise<Partial<QueueReading>> {
  const {
    waitingMs,
    questionMs,
    undeliveredMs,
    nextMs: _,
    ...counts
  } = (await second.measure?.(of)) ?? { waiting: -1 };
  for (const ms of [waitingMs, questionMs, undeliveredMs]) assert.ok(ms === undefined || ms >= 0, `${ms}`);
  return counts;
}

/** Without states that no task has. */
const questionsIn = ({ questions = {} }: Partial<QueueReading>) =>
  Object.fromEntries(Object.entries(questions).filter(([, tasks]) => tasks > 0));

export const measureChecks = section('measure', {
  async 'counts what waits, and tells how long the first has'(fixture) {
    const { store, second, now } = fixture;
    if (!store.measure || !second.measure) return;
    assert.equal((await second.measure(queue)).waiting, 0);
    const { waitingMs: none, nextMs } = await second.measure(queue);
    assert.deepEqual([none, nextMs], [undefined, undefined]);
    for (const taskId of ['a', 'b', 'c']) await logOf(store, { taskId }).create(wanted);
    await logOf(store, { taskId: 'other' }).create({ turn: { queue: 'other', want: true } });
    const reading = await second.measure(queue);
    assert.equal(reading.waiting, 3);
    assert.ok(reading.waitingMs !== undefined && reading.waitingMs >= 0, `${reading.waitingMs}`);
    assert.equal(reading.nextMs, 0);
    const late = await logOf(store, { taskId: 'late' }).started(acquire('late'));
    const dueAt = now() - 60_000;
    await late.commit([working()], {
      ...dueAfter(late, [working()], dueAt),
      ...writer('late'),
      ...release(),
    });
    const { waiting, waitingMs = 0 } = await second.measure(queue);
    assert.equal(waiting, 3);
    assert.ok(waitingMs > 50_000, `${waitingMs}`);
  },

  async 'counts questions by state and turns that are postponed, until they go on or end'(fixture) {
    const { store, second, now } = fixture;
    if ((await second.measure?.(queue))?.postponed === undefined) return;
    const begin = (taskId: string) => logOf(store, { taskId }).started(acquire(taskId));
    const over = ({ taskId }: Log) => ({ ...writer(taskId), ...release() });
    const [one, two] = [await begin('one'), await begin('two')];
    const [auth, later] = [await begin('auth'), await begin('later')];
    // It asks, and its turn goes on meanwhile.
    await one.commit([asks], writer('one'));
    assert.deepEqual(questionsIn(await countsOf(fixture)), {});
    await one.commit([], over(one));
    await two.commit([asks], { ...over(two), ...dueAfter(two, [asks], now() + 60_000) });
    await auth.commit([status('TASK_STATE_AUTH_REQUIRED', at(1_000))], over(auth));
    await later.commit([working()], { ...over(later), ...dueAfter(later, [working()], now() + 60_000) });
    const asking = { TASK_STATE_INPUT_REQUIRED: 2, TASK_STATE_AUTH_REQUIRED: 1 };
    const all = await second.measure?.(queue);
    assert.deepEqual(questionsIn(all ?? {}), asking);
    assert.deepEqual([all?.postponed, all?.waiting], [1, 0]);
    assert.ok(Math.abs((all?.nextMs ?? 0) - 60_000) < 5_000, `next in ${all?.nextMs} ms`);
    const asked = all?.questionMs ?? -1;
    assert.ok(Math.abs(now() - Date.parse(at(0)) - asked) < 5_000, `asked ${asked} ms ago`);
    assert.deepEqual(questionsIn(await countsOf(fixture, 'other')), {});
    // An answer, an end, and a turn that begins.
    await two.append(status('TASK_STATE_INPUT_REQUIRED'), 'answer', wanted);
    await auth.commit([completed(at(2_000))]);
    await claim(second, 'x', { task: { scope: 's', taskId: 'later' } });
    assert.deepEqual(questionsIn(await countsOf(fixture)), { TASK_STATE_INPUT_REQUIRED: 1 });
    await one.commit([completed(at(3_000))]);
    const none = await second.measure?.(queue);
    assert.deepEqual(questionsIn(none ?? {}), {});
    assert.equal(none?.questionMs, undefined);
    assert.equal(none?.waiting, 1);
  },

  async 'counts a question and a turn that is postponed in another queue once the task is there'(fixture) {
    const { store, second, now } = fixture;
    if ((await second.measure?.(queue))?.postponed === undefined) return;
    for (const [taskId, fact] of Object.entries({ asks, later: working() })) {
      const log = await logOf(store, { taskId }).started({ turn: { queue } });
      for (const turn of [{ queue }, { queue: 'other' }])
        await log.commit([fact], { turn, ...(fact !== asks && dueAfter(log, [fact], now() + 60_000)) });
    }
    for (const [name, tasks] of Object.entries({ [queue]: 0, other: 1 })) {
      const { postponed, questions = {} } = (await second.measure?.(name)) ?? {};
      assert.deepEqual([postponed, questions.TASK_STATE_INPUT_REQUIRED ?? 0], [tasks, tasks], name);
    }
  },
});

/** What a commit has that wants a turn unless so many wait already. */
const atMost = (waitingAtMost: number) => ({ turn: { ...wanted.turn, waitingAtMost } });

export const waitingChecks = section('waiting', {
  async 'counts the open tasks of a queue that want a turn and do not run'({ store, second }) {
    assert.equal(await store.waiting('q'), 0);
    const [a, b] = [logOf(store, { taskId: 'a' }), logOf(store, { taskId: 'b' })];
    for (const log of [a, b, logOf(store, { taskId: 'c' })]) await log.create(wanted);
    await a.commit([chunk(1)], wanted);
    assert.equal(await second.waiting('q'), 3);
    assert.equal(await store.waiting('other'), 0);
    await claim(store, 'x', { task: { scope: 's', taskId: 'a' } });
    assert.equal(await store.waiting('q'), 2);
    await b.commit([completed()]);
    assert.equal(await store.waiting('q'), 1);
    await a.commit([], { ...writer('x'), ...release(true) });
    assert.equal(await second.waiting('q'), 2);
  },

  async 'may stop counting where the caller needs no more'({ store, second }) {
    for (const taskId of ['a', 'b', 'c']) await logOf(store, { taskId }).create(wanted);
    for (const atMost of [1, 2]) {
      const counted = await second.waiting('q', atMost);
      assert.ok(counted >= atMost && counted <= 3, `counted ${counted} of 3, at most ${atMost}`);
    }
    for (const atMost of [3, 4, 1_000]) assert.equal(await second.waiting('q', atMost), 3);
  },

  async 'refuses a task where none may wait, and leaves nothing of it'({ store, second }) {
    const log = logOf(store);
    const first = log.prepare([received(), created()], { once: 'key', ...atMost(0) });
    await refuses('QUEUE_FULL', store.commit(first));
    assert.equal(await second.load('s', 't'), undefined);
    assert.equal((await second.list('s', { limit: 9 })).total, 0);
    assert.equal(await second.waiting('q'), 0);
    same(await claim(second, 'x'), []);
    same(await log.create({ once: 'key', turn: { queue: 'q' } }), { version: 2 });
    await refuses('QUEUE_FULL', log.commit([chunk(1)], atMost(0)));
    assert.equal((await second.load('s', 't'))?.version, 2);
    same(await log.commit([chunk(1)], wanted), { version: 3 });
  },

  async 'refuses a task once as many wait in its queue as may, and none before'({ store, second }) {
    for (const taskId of ['r', 's']) await logOf(store, { taskId }).create(acquire('x'));
    for (const taskId of ['m', 'n'])
      await logOf(store, { taskId, queue: 'other' }).create({ turn: { queue: 'other', want: true } });
    for (const taskId of ['a', 'b', 'c']) await logOf(store, { taskId }).create(atMost(3));
    assert.equal(await store.waiting('q'), 3);
    // The next one, unless the store counts each of its parts by itself: then one of the next.
    let late = 0;
    const create = async () => logOf(second, { taskId: `late ${late}` }).create(atMost(3));
    const createMany = async () => {
      for (; late < 200; late++) await create();
    };
    await refuses('QUEUE_FULL', createMany());
    await claim(second, 'y', { limit: 200 });
    await create();
    assert.equal(await store.waiting('q'), 1);
  },

  async 'refuses no commit after which its task does not wait'({ store }) {
    await logOf(store, { taskId: 'before' }).create(wanted);
    const log = await logOf(store).started({ turn: { ...acquire('x').turn, waitingAtMost: 0 } });
    same(await log.commit([chunk(1)], { ...writer('x'), ...atMost(0) }), { version: 3 });
    const released = { queue: 'q', waitingAtMost: 0, release: true };
    same(await log.commit([completed()], { ...writer('x'), turn: released }), { version: 4 });
  },
});
