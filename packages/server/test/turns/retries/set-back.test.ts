import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually } from '../../../../../test/kit/until.ts';
import { type Agent, type AgentServerOptions, completed } from '../../../src/index.ts';
import { webhook } from '../../webhooks/kit/webhook.ts';

const configuration = { returnImmediately: true };

/** A clock whose wall clock can be set, and a store that goes by it. */
function settable() {
  const clock = testClock();
  let byMs = 0;
  const now = () => clock.now() + byMs;
  return {
    clock: { ...clock, now },
    store: memoryStore({ now }),
    setBack: (ms = 600_000) => {
      byMs = -ms;
    },
  };
}

/** Fails at its first try: the turn, or the step with this wait. */
const failing = (initialMs?: number): Agent =>
  async function* ({ step, attempt }) {
    if (initialMs === undefined && attempt === 1) throw new Error('429');
    if (initialMs !== undefined)
      await step('flaky', { retries: 1, backoff: { initialMs, jitter: 0 } }, ({ attempt: n }) => {
        if (n === 1) throw new Error('429');
      });
    yield completed();
  };

const retry = { retries: 1, backoff: { initialMs: 2_000, jitter: 0 } };

describe('a wall clock that is set back by ten minutes makes no wait longer: that of', () => {
  it.each<[string, Agent, Partial<AgentServerOptions>]>([
    ['a step that waits in its process', failing(2_000), { restart: 'fail' }],
    ['a step that pauses its turn', failing(8_000), { restart: 'rerun' }],
    ['a turn', failing(), { restart: 'rerun', retry }],
  ])('%s', async (_, agent, options) => {
    const { clock, store, setBack } = settable();
    const server = serve(agent, { ...options, clock, store });
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    await clock.advance(500);
    setBack();
    await clock.advance(17_500);
    const { status } = await rpc(server, 'GetTask', { id: task.id });
    expect(status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('a webhook', async () => {
    const { clock, store, setBack } = settable();
    const hook = await webhook((_got, before) => (before === 0 ? 503 : 200));
    const push = { allow: ['127.0.0.1:*'], retry: { baseDelayMs: 60_000, maxDelayMs: 60_000 } };
    const server = serve(failing(0), { clock, store, push });
    await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { taskPushNotificationConfig: { url: hook.url() } },
    });
    await eventually(async () => {
      await clock.advance(100);
      expect(hook.received).toHaveLength(1);
    });
    setBack();
    await clock.advance(61_000);
    expect(hook.acknowledged).toEqual(['COMPLETED']);
  });
});

it('the rest of a wait that a dead process began is no longer than its policy allows', async () => {
  const { clock, store, setBack } = settable();
  const agent = failing(4_000);
  const first = serve(agent, { restart: 'rerun', clock, store });
  const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration });
  await clock.advance(500);
  await Promise.all([first.close({ graceMs: 0 }), clock.advance(0)]);
  setBack();
  const next = serve(agent, {
    restart: 'rerun',
    clock,
    store,
    retry: { steps: { backoff: { maxMs: 4_000 } } },
  });
  await clock.advance(10_000);
  expect((await rpc(next, 'GetTask', { id: task.id })).status.state).toBe('TASK_STATE_COMPLETED');
});

it.each([3_600_000, 30 * 86_400_000])(
  'a webhook that a dead process put off while its clock was %i ms ahead waits as long as its policy allows',
  async (ahead) => {
    const { clock, store, setBack } = settable();
    const hook = await webhook((_got, before) => (before === 0 ? 503 : 200));
    const push = { allow: ['127.0.0.1:*'], retry: { baseDelayMs: 60_000, maxDelayMs: 60_000 } };
    const first = serve(failing(0), { clock, store, push });
    await rpc(first, 'SendMessage', {
      message: say('go'),
      configuration: { taskPushNotificationConfig: { url: hook.url() } },
    });
    await eventually(async () => {
      await clock.advance(100);
      expect(hook.received).toHaveLength(1);
    });
    await Promise.all([first.close({ graceMs: 0 }), clock.advance(0)]);
    setBack(ahead);
    serve(failing(0), { clock, store, push });
    await clock.advance(120_000);
    await eventually(async () => {
      await clock.advance(100);
      expect(hook.acknowledged).toEqual(['COMPLETED']);
    });
  },
);
