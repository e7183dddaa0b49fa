import type { StreamResponse } from '@batonjs/protocol';
import { GENERATION } from '@batonjs/protocol/headers';
import type { AgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it } from 'vitest';
import { webhook } from '../../packages/server/test/webhooks/kit/webhook.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { passableClock } from '../kit/passable-clock.ts';
import { brief, rpc, say, stream } from '../kit/rpc.ts';
import { serveWith } from '../kit/serve.ts';
import { eventually, until } from '../kit/until.ts';
import { chunks } from './chunks.ts';

const serve = serveWith({
  restart: { maxAttempts: 3 },
  timeouts: {
    // Longer than any test: only a task that was handed over goes on elsewhere.
    leaseMs: 600_000,
    generationMs: 20_000,
    cancelGraceMs: 20_000,
  },
  compatibility: ['1.1'],
  push: { allow: ['127.0.0.1:*'], updates: 'all', retry: { baseDelayMs: 1 } },
});

const now = { returnImmediately: true };

const stores = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore(':memory:')],
] as const;

describe.each(stores)('a server that is closed, with tasks in %s', (_, open) => {
  function twoServers(options: Parameters<typeof serve>[1] = {}) {
    const store = closedAfterTest(open());
    const held = chunks();
    const start = (): AgentServer => serve(held.agent, { store, ...options });
    return { ...held, first: start(), start };
  }

  it('while a turn streams: another goes on, and the stream has each event once', async () => {
    const { first, start, release, runs } = twoServers();
    const events: { id: string | undefined; event: StreamResponse }[] = [];
    for await (const one of stream(first, 'SendStreamingMessage', { message: say('go') })) {
      events.push(one);
      if (brief(one.event) !== 'a:1') continue;
      void first.close({ graceMs: 0 });
    }
    const second = start();
    const { id } = (events[0]!.event as { task: { id: string } }).task;
    release();
    const header = { 'last-event-id': events.at(-1)!.id! };
    for await (const one of stream(second, 'SubscribeToTask', { id }, header)) events.push(one);
    const said = events.map(({ event }) => brief(event)).filter((word) => word.startsWith('a:'));
    expect(said).toEqual(['a:1', 'a:2']);
    const task = await until(second, id, 'COMPLETED');
    expect(task.artifacts).toMatchObject([{ artifactId: 'a', parts: [{ text: '1' }, { text: '2' }] }]);
    expect(runs.filter((run) => run === 'charged')).toHaveLength(1);
  });

  it('while a task waits for input: the answer starts one turn elsewhere', async () => {
    const { first, start, release, runs } = twoServers();
    const { task } = await rpc(first, 'SendMessage', { message: say('ask') });
    await first.close({ graceMs: 0 });
    const second = start();
    release();
    const message = say('go', { taskId: task.id });
    const answered = await rpc(second, 'SendMessage', { message });
    expect(answered.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(runs).toEqual(['ask', 'go', 'charged']);
  });

  it('while a task waits for an authorization: a message after it starts one turn elsewhere', async () => {
    const { first, start, release, runs } = twoServers();
    const { task } = await rpc(first, 'SendMessage', { message: say('sign in') });
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    // Other than a question, it does not end the turn: one that is closed before its end is run again.
    await eventually(() => expect(first.load.turns).toBe(0));
    await first.close({ graceMs: 0 });
    const second = start();
    release();
    const answered = await rpc(second, 'SendMessage', { message: say('go', { taskId: task.id }) });
    expect(answered.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(runs).toEqual(['sign in', 'go', 'charged']);
  });

  it('while the time of a task runs: another goes on, and ends it when the time is over', async () => {
    const { clock, pass } = passableClock();
    const { first, start, runs } = twoServers({ clock, timeouts: { taskMs: 60_000 } });
    const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration: now });
    await eventually(() => expect(runs).toEqual(['go']));
    await first.close({ graceMs: 0 });
    const second = start();
    await eventually(() => expect(runs).toEqual(['go', 'go']));
    pass(60_000);
    const { status } = await until(second, task.id, 'FAILED');
    expect(status.message?.parts[0]).toEqual({ text: 'The task took too long' });
    expect(runs).toEqual(['go', 'go']);
  });

  it('while a webhook is being notified: each event arrives, in order', async () => {
    const { first, start, release } = twoServers();
    let refused = 0;
    const hook = await webhook(() => (refused++ < 1 ? 503 : 200));
    const configuration = { ...now, taskPushNotificationConfig: { url: hook.url() } };
    const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration });
    await eventually(() => expect(hook.received.length).toBeGreaterThan(0));
    await first.close({ graceMs: 0 });
    const second = start();
    release();
    await until(second, task.id, 'COMPLETED');
    await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
    const once = hook.acknowledged.filter((word, n, all) => all.indexOf(word) === n);
    expect(once.filter((word) => word.startsWith('a:') || word === 'COMPLETED')).toEqual([
      'a:1',
      'a:2',
      'COMPLETED',
    ]);
  });

  it('while a long poll waits: it ends, and a poll elsewhere sees the rest', async () => {
    const { first, start, release } = twoServers();
    const { task } = await rpc(first, 'SendMessage', { message: say('ask') });
    const poll = rpc(
      first,
      'GetTask',
      { id: task.id, currentGeneration: 99 },
      { 'a2a-extensions': GENERATION },
    ).then(
      (found) => found.status.state,
      (error: Error) => error.message,
    );
    await eventually(() => expect(first.load.tasks).toBe(1));
    await first.close({ graceMs: 0 });
    expect(await poll).toBeTypeOf('string');
    const second = start();
    release();
    await rpc(second, 'SendMessage', { message: say('go', { taskId: task.id }) });
    await until(second, task.id, 'COMPLETED');
  });

  it('while a cancel waits for the agent: the task is canceled, and its agent does not run again', async () => {
    const { first, start, runs, aborted } = twoServers();
    const { task } = await rpc(first, 'SendMessage', { message: say('deaf'), configuration: now });
    await until(first, task.id, 'WORKING');
    const canceling = rpc(first, 'CancelTask', { id: task.id }).catch((error: Error) => error);
    await aborted;
    await first.close({ graceMs: 0 });
    await canceling;
    await until(start(), task.id, 'CANCELED');
    expect(runs).toEqual(['deaf']);
  });
});
