import type { Telemetry } from '@batonjs/server/adapter';
import { metricsHandler, telemetry } from '@batonjs/telemetry';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { attributesOfParams } from '../src/read-attributes.ts';

/** What has changed in the counters since the start, by name and labels. */
async function counted(tell: (made: Telemetry) => void): Promise<Record<string, number>> {
  const made = telemetry({ expose: true });
  const server = serve(async function* () {}, { telemetry: made });
  const { fetch } = metricsHandler(server, { token: null });
  const samples = async () => {
    const text = await (await fetch(new Request('http://127.0.0.1'))).text();
    const lines = text.split('\n').filter((line) => /^baton_\w+_(total|sum)\b/.test(line));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  };
  const before = await samples();
  tell(made);
  const after = await samples();
  return Object.fromEntries(
    [...after].filter(([name, value]) => !name.includes('store_operation') && value !== before.get(name)),
  );
}

describe('what a process tells is counted', () => {
  it.each<[string, (made: Telemetry) => void, Record<string, number>]>([
    ['a lease that was lost', ({ turnEvent }) => turnEvent('lost'), { baton_leases_lost_total: 1 }],
    [
      'a turn that was taken over',
      ({ turnEvent }) => turnEvent('taken-over'),
      { baton_turns_recovered_total: 1 },
    ],
    ['an attempt that failed', ({ turnEvent }) => turnEvent('failed'), { baton_turns_failed_total: 1 }],
    ['nothing of another event', ({ turnEvent }) => turnEvent('begun'), {}],
    [
      'a webhook that was given up',
      ({ gaveUp }) => gaveUp(),
      { 'baton_push_deliveries_total{baton_push_outcome="given_up"}': 1 },
    ],
    [
      'a task that began',
      ({ transition }) => transition(undefined, 'TASK_STATE_SUBMITTED'),
      { baton_tasks_created_total: 1 },
    ],
    [
      'no task that works on',
      ({ transition }) => transition('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'),
      {},
    ],
    [
      'a task that began and ended at once',
      ({ transition }) => transition(undefined, 'TASK_STATE_REJECTED'),
      {
        baton_tasks_created_total: 1,
        'baton_tasks_ended_total{a2a_task_state="TASK_STATE_REJECTED"}': 1,
      },
    ],
    [
      'a task that failed with a code',
      ({ transition }) => transition('TASK_STATE_WORKING', 'TASK_STATE_FAILED', 'NO_ROOM'),
      {
        'baton_tasks_ended_total{a2a_task_state="TASK_STATE_FAILED"}': 1,
        'baton_tasks_failed_total{error_type="NO_ROOM"}': 1,
      },
    ],
    [
      'a task that failed without one',
      ({ transition }) => transition('TASK_STATE_WORKING', 'TASK_STATE_FAILED'),
      {
        'baton_tasks_ended_total{a2a_task_state="TASK_STATE_FAILED"}': 1,
        'baton_tasks_failed_total{error_type="_OTHER"}': 1,
      },
    ],
  ])('%s', async (_what, tell, expected) => {
    expect(await counted(tell)).toEqual(expected);
  });

  it('from 0 on, where the labels are known', async () => {
    const server = serve(async function* () {}, { telemetry: telemetry({ expose: true }) });
    const { fetch } = metricsHandler(server, { token: null });
    const text = await (await fetch(new Request('http://127.0.0.1'))).text();
    const zeros = text.split('\n').filter((line) => /_total.* 0$/.test(line));
    expect(zeros).toEqual([
      'baton_tasks_created_total 0',
      ...['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'].map(
        (state) => `baton_tasks_ended_total{a2a_task_state="TASK_STATE_${state}"} 0`,
      ),
      'baton_turns_recovered_total 0',
      'baton_turns_failed_total 0',
      'baton_leases_lost_total 0',
      ...['delivered', 'failed', 'handed_back', 'given_up'].map(
        (outcome) => `baton_push_deliveries_total{baton_push_outcome="${outcome}"} 0`,
      ),
    ]);
  });

  it('a call of a store, with its kind, its database and its error, in seconds', async () => {
    const made = telemetry({ expose: true });
    const server = serve(async function* () {}, { telemetry: made });
    made.stored?.({ operation: 'deliver', system: undefined, ms: 1_500 });
    made.stored?.({ operation: 'renew', system: 'redis', ms: 500, error: new TypeError('x') });
    const { fetch } = metricsHandler(server, { token: null });
    const text = await (await fetch(new Request('http://127.0.0.1'))).text();
    const name = 'baton_store_operation_duration_seconds_sum';
    expect(text).toContain(`\n${name}{baton_store_operation="deliver"} 1.5\n`);
    expect(text).toContain(
      `\n${name}{baton_store_operation="renew",db_system_name="redis",error_type="TypeError"} 0.5\n`,
    );
  });
});

describe('what the params of a call say', () => {
  const long = 'x'.repeat(300);
  it.each([
    [{}, {}],
    [{ message: 'text', id: 7, tenant: '' }, {}],
    [
      { message: { messageId: 'm', taskId: 't', contextId: 'c' }, taskId: 'other', contextId: 'other' },
      { 'a2a.message.id': 'm', 'a2a.task.id': 't', 'gen_ai.conversation.id': 'c' },
    ],
    [{ taskId: 't', id: 'other' }, { 'a2a.task.id': 't' }],
    [
      { id: 't', contextId: 'c', tenant: 'acme' },
      { 'a2a.task.id': 't', 'gen_ai.conversation.id': 'c', 'a2a.tenant': 'acme' },
    ],
    [{ id: long }, { 'a2a.task.id': 'x'.repeat(256) }],
    [{ message: { referenceTaskIds: ['a', '', 7, 'b'] } }, { 'a2a.message.reference_task_ids': ['a', 'b'] }],
    [{ message: { referenceTaskIds: [''] } }, {}],
    [
      { message: { referenceTaskIds: Array.from({ length: 40 }, (_, n) => `t${n}`) } },
      { 'a2a.message.reference_task_ids': Array.from({ length: 32 }, (_, n) => `t${n}`) },
    ],
  ])('%j', (params, expected) => {
    expect(attributesOfParams(params)).toEqual(expected);
  });
});
