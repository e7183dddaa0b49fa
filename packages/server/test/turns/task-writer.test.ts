import type { Command } from '@batonjs/lifecycle';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { say } from '../../../../test/kit/rpc.ts';
import { defaultLimits } from '../../src/base/limits.ts';
import { systemClock } from '../../src/base/timing/clock.ts';
import { decideAll } from '../../src/log/write/decision.ts';
import { write } from '../../src/log/write/write.ts';
import { TaskWriter } from '../../src/turns/task-writer.ts';
import { liveTasks } from '../log/kit/live-tasks.ts';

const begin: Command[] = [
  { type: 'receive', message: say('go', { contextId: 'c' }) },
  { type: 'create', taskId: 't' },
  { type: 'start-turn' },
];
const working = (): Command[] => [{ type: 'update', update: { status: { state: 'TASK_STATE_WORKING' } } }];

/** A turn that writes a task. Its clock breaks when the test says so, and its store answers when it says so. */
async function writing() {
  const state = { isBroken: false, until: undefined as Promise<void> | undefined };
  const clock = {
    ...systemClock,
    monotonic: () => {
      if (state.isBroken) throw new Error('The clock broke');
      return systemClock.monotonic();
    },
  };
  const store = change(memoryStore(), {
    commit: (commit) => (request) => {
      const unfenced = { ...request, writer: undefined };
      return state.until ? state.until.then(() => commit(unfenced)) : commit(unfenced);
    },
  });
  const tasks = liveTasks(store, { clock });
  const live = tasks.begin('s', 't');
  await write(live, (known) => decideAll(known, begin, new Date(0).toISOString()));
  const dependencies = {
    clock,
    onEvent() {},
    options: { timeouts: { leaseMs: 1_000 }, limits: defaultLimits },
  };
  const turn = { heartbeat: { isSure: () => true }, stalls: { enter() {} } };
  const lease = { scope: 's', taskId: 't', fence: 1 };
  return {
    state,
    writer: new TaskWriter(live, lease as never, 0, dependencies as never, turn as never),
  };
}

/** How many rounds of promises something takes; undefined if it takes more than any turn does. */
async function roundsOf(what: Promise<unknown>): Promise<number | undefined> {
  let isOver = false;
  void what.then(() => {
    isOver = true;
  });
  for (let rounds = 0; rounds < 100; rounds++) {
    if (isOver) return rounds;
    await undefined;
  }
  return undefined;
}

describe('a turn is idle', () => {
  it('at once after a write that a store answered at once', async () => {
    const { writer } = await writing();
    await writer.write(working);
    expect(await roundsOf(writer.idle())).toBeLessThan(9);
    expect(writer.isWriting).toBe(false);
  });

  it('only after the last of the writes that wait for one another', async () => {
    const { writer, state } = await writing();
    const answering = Promise.withResolvers<void>();
    state.until = answering.promise;
    const order: string[] = [];
    const first = Promise.resolve(writer.write(working)).finally(() => order.push('first'));
    const idle = writer.idle().then(() => order.push('idle'));
    const second = Promise.resolve(writer.write(working)).finally(() => order.push('second'));
    expect(await roundsOf(idle)).toBeUndefined();
    expect(writer.isWriting).toBe(true);
    answering.resolve();
    await Promise.all([first, second, idle]);
    expect(order).toEqual(['first', 'second', 'idle']);
    expect(writer.isWriting).toBe(false);
  });

  it('after a write that something broke before the store was asked, and writes again', async () => {
    const { writer, state } = await writing();
    state.isBroken = true;
    await expect(async () => writer.write(working)).rejects.toThrow('The clock broke');
    expect(writer.isWriting).toBe(false);
    expect(await roundsOf(writer.idle())).toBeLessThan(9);
    state.isBroken = false;
    await writer.write(working);
    expect(writer.state.task?.status.state).toBe('TASK_STATE_WORKING');
  });

  it('after its lease was lost', async () => {
    const { writer } = await writing();
    writer.lost();
    await expect(writer.write(working)).rejects.toThrow(expect.objectContaining({ code: 'FENCED' }));
    expect(await roundsOf(writer.idle())).toBeLessThan(9);
    expect(writer.isWriting).toBe(false);
  });
});

it('a turn has ended its task when that is stored, and not before', async () => {
  const { writer, state } = await writing();
  await writer.write(working);
  expect(writer.hasEnded).toBe(false);
  const answering = Promise.withResolvers<void>();
  state.until = answering.promise;
  const last = writer.cancel();
  expect(writer.hasEnded).toBe(false);
  answering.resolve();
  await last;
  expect([writer.state.closed, writer.hasEnded]).toEqual([true, true]);
});
