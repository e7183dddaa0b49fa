import assert from 'node:assert/strict';
import type { QueueReading } from '@batonjs/store';
import { type Fixture, section } from '../../fixture/check.ts';
import { at, completed, status, working } from '../../samples/facts.ts';
import { logOf } from '../../samples/log.ts';

const queue = 'q';
const ttlMs = 60_000;
const asks = status('TASK_STATE_INPUT_REQUIRED');

/** A reading whose times are left out; each was none or more than none. */
async function countsOf({ second }: Fixture, of = queue): Promise<Partial<QueueReading>> {
  const { waitingMs, questionMs, undeliveredMs, ...counts } = (await second.measure?.(of)) ?? { waiting: -1 };
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
    assert.equal((await second.measure(queue)).waitingMs, undefined);
    for (const taskId of ['a', 'b', 'c'])
      await logOf(store, { taskId }).create({ turn: { queue, want: true } });
    await logOf(store, { taskId: 'other' }).create({ turn: { queue: 'other', want: true } });
    const reading = await second.measure(queue);
    assert.equal(reading.waiting, 3);
    assert.ok(reading.waitingMs !== undefined && reading.waitingMs >= 0, `${reading.waitingMs}`);
    const late = logOf(store, { taskId: 'late' });
    await late.create({ turn: { queue, acquire: { holder: 'late', ttlMs } } });
    const dueAt = new Date(now() - 60_000).toISOString();
    await late.commit([working()], {
      head: { ...late.headAfter([working()]), dueAt },
      writer: { fence: 1, holder: 'late' },
      turn: { queue, release: true },
    });
    const { waiting, waitingMs = 0 } = await second.measure(queue);
    assert.equal(waiting, 3);
    assert.ok(waitingMs > 50_000, `${waitingMs}`);
  },

  async 'counts questions by state and turns that are postponed, until they go on or end'(fixture) {
    const { store, second, now } = fixture;
    if ((await second.measure?.(queue))?.postponed === undefined) return;
    const begin = async (taskId: string) => {
      const log = logOf(store, { taskId });
      await log.create({ turn: { queue, acquire: { holder: taskId, ttlMs } } });
      return log;
    };
    const release = (log: ReturnType<typeof logOf>, dueAt?: number) => ({
      writer: { fence: 1, holder: log.taskId },
      turn: { queue, release: true },
      ...(dueAt !== undefined && {
        head: { ...log.headAfter([working()]), dueAt: new Date(dueAt).toISOString() },
      }),
    });
    const [one, two, auth, later] = [
      await begin('one'),
      await begin('two'),
      await begin('auth'),
      await begin('later'),
    ];
    // It asks, and its turn goes on meanwhile.
    await one.commit([asks], { writer: { fence: 1, holder: 'one' } });
    assert.deepEqual(questionsIn(await countsOf(fixture)), {});
    await one.commit([], release(one));
    const deadline = new Date(now() + 60_000).toISOString();
    await two.commit([asks], { ...release(two), head: { ...two.headAfter([asks]), dueAt: deadline } });
    await auth.commit([status('TASK_STATE_AUTH_REQUIRED', at(1_000))], release(auth));
    await later.commit([working()], release(later, now() + 60_000));
    const asking = { TASK_STATE_INPUT_REQUIRED: 2, TASK_STATE_AUTH_REQUIRED: 1 };
    const all = await second.measure?.(queue);
    assert.deepEqual(questionsIn(all ?? {}), asking);
    assert.deepEqual([all?.postponed, all?.waiting], [1, 0]);
    const asked = all?.questionMs ?? -1;
    assert.ok(Math.abs(now() - Date.parse(at(0)) - asked) < 5_000, `asked ${asked} ms ago`);
    assert.deepEqual(questionsIn(await countsOf(fixture, 'other')), {});
    // An answer, an end, and a turn that begins.
    await two.append(status('TASK_STATE_INPUT_REQUIRED'), 'answer', { turn: { queue, want: true } });
    await auth.commit([completed(at(2_000))]);
    await second.claim({ queue, holder: 'x', ttlMs, limit: 1, task: { scope: 's', taskId: 'later' } });
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
    const dueAt = new Date(now() + 60_000).toISOString();
    for (const [taskId, facts, due] of [
      ['asks', [asks], {}],
      ['later', [working()], { dueAt }],
    ] as const) {
      const log = logOf(store, { taskId });
      await log.create({ turn: { queue } });
      for (const turn of [{ queue }, { queue: 'other' }])
        await log.commit(facts, { turn, head: { ...log.headAfter(facts), ...due } });
    }
    for (const [name, tasks] of [
      [queue, 0],
      ['other', 1],
    ] as const) {
      const { postponed, questions = {} } = (await second.measure?.(name)) ?? {};
      assert.deepEqual([postponed, questions.TASK_STATE_INPUT_REQUIRED ?? 0], [tasks, tasks], name);
    }
  },
});
