import type { ObservedProcess } from '@batonjs/server/adapter';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { writeMetrics } from '../../src/metrics/exposition.ts';
import { Observed } from '../../src/metrics/gauges.ts';
import { Registry } from '../../src/metrics/registry.ts';

/** A process that says this of itself. */
const processOf = (more: Partial<ObservedProcess> = {}): ObservedProcess => ({
  queue: 'q',
  version: undefined,
  turnLimit: 10,
  load: () => ({ turns: 2, tasks: 3 }),
  measure: async () => ({ waiting: 4 }),
  unserved: async () => undefined,
  readiness: async () => ({ isReady: true }),
  ...more,
});

/** All gauges of these processes, by their names and labels. */
async function gaugesOf(...processes: readonly ObservedProcess[]) {
  const observed = new Observed();
  const registry = new Registry();
  observed.register(registry);
  const leave = processes.map((one) => observed.add(one));
  const read = async () => {
    const lines = writeMetrics(await registry.collect(), 'text').split('\n');
    const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
    return Object.fromEntries(
      samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  };
  return { read, leave };
}

describe('gauges', () => {
  it('say all that a store tells of its queue', async () => {
    const { read } = await gaugesOf(
      processOf({
        version: 'v1',
        measure: async () => ({
          waiting: 4,
          waitingMs: 5_500,
          postponed: 6,
          questions: { TASK_STATE_INPUT_REQUIRED: 7 },
          questionMs: 8_000,
          undelivered: 9,
          undeliveredMs: 10_000,
          dead: 11,
        }),
        unserved: async () => ({ versions: 12, tasks: 13 }),
      }),
    );
    expect(await read()).toEqual({
      'baton_turns_waiting{baton_queue="q"}': 4,
      'baton_turns_waiting_age_seconds{baton_queue="q"}': 5.5,
      'baton_turns_postponed{baton_queue="q"}': 6,
      'baton_questions_open{a2a_task_state="TASK_STATE_INPUT_REQUIRED",baton_queue="q"}': 7,
      'baton_questions_open{a2a_task_state="TASK_STATE_AUTH_REQUIRED",baton_queue="q"}': 0,
      'baton_questions_age_seconds{baton_queue="q"}': 8,
      'baton_webhooks_waiting{baton_queue="q"}': 9,
      'baton_webhooks_waiting_age_seconds{baton_queue="q"}': 10,
      'baton_webhooks_dead{baton_queue="q"}': 11,
      'baton_versions_unserved{baton_queue="q"}': 12,
      'baton_tasks_unserved{baton_queue="q"}': 13,
      'baton_turns_running{baton_queue="q"}': 2,
      'baton_turns_limit{baton_queue="q"}': 10,
      'baton_tasks_loaded{baton_queue="q"}': 3,
      'baton_ready{baton_queue="q"}': 1,
      'baton_build_info{baton_queue="q",service_version="v1"}': 1,
    });
  });

  it('leave out what the store cannot tell, and an age of nothing is 0', async () => {
    const { read } = await gaugesOf(processOf({ unserved: () => Promise.reject(new Error('away')) }));
    expect(await read()).toEqual({
      'baton_turns_waiting{baton_queue="q"}': 4,
      'baton_turns_waiting_age_seconds{baton_queue="q"}': 0,
      'baton_webhooks_waiting_age_seconds{baton_queue="q"}': 0,
      'baton_turns_running{baton_queue="q"}': 2,
      'baton_turns_limit{baton_queue="q"}': 10,
      'baton_tasks_loaded{baton_queue="q"}': 3,
      'baton_ready{baton_queue="q"}': 1,
      'baton_build_info{baton_queue="q"}': 1,
    });
    const asking = await gaugesOf(processOf({ measure: async () => ({ waiting: 0, questions: {} }) }));
    expect(await asking.read()).toMatchObject({ 'baton_questions_age_seconds{baton_queue="q"}': 0 });
  });

  it('add up the processes of a queue, ask its store once in five seconds, and are not ready if one is not', async () => {
    let now = 1_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    let measured = 0;
    const counting = {
      measure: async () => {
        measured += 1;
        return { waiting: 4 };
      },
    };
    const { read, leave } = await gaugesOf(
      processOf(counting),
      processOf({
        ...counting,
        load: () => ({ turns: 1, tasks: 1 }),
        turnLimit: 5,
        readiness: async () => ({ isReady: false, reason: 'closing' }),
      }),
      processOf({ queue: 'other', load: () => ({ turns: 0, tasks: 0 }) }),
    );
    const both = await read();
    expect(both).toMatchObject({
      'baton_turns_running{baton_queue="q"}': 3,
      'baton_tasks_loaded{baton_queue="q"}': 4,
      'baton_turns_limit{baton_queue="q"}': 15,
      'baton_ready{baton_queue="q",baton_reason="closing"}': 0,
      'baton_ready{baton_queue="other"}': 1,
      'baton_turns_running{baton_queue="other"}': 0,
    });
    now += 4_999;
    await read();
    expect(measured).toBe(1);
    now += 1;
    await read();
    expect(measured).toBe(2);
    leave[1]?.();
    expect(await read()).toMatchObject({
      'baton_turns_running{baton_queue="q"}': 2,
      'baton_ready{baton_queue="q"}': 1,
    });
    for (const one of leave) one();
    expect(await read()).toEqual({});
  });

  it('are not ready without a reason where none is said', async () => {
    const { read } = await gaugesOf(processOf({ readiness: async () => ({ isReady: false }) }));
    expect(await read()).toMatchObject({ 'baton_ready{baton_queue="q"}': 0 });
  });
});
