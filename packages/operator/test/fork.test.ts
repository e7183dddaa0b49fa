import type { Task } from '@batonjs/protocol';
import { artifact, completed, failed, inputRequired, type Turn } from '@batonjs/server';
import { StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scope } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually, until } from '../../../test/kit/until.ts';
import { bulkTasks } from '../src/bulk-tasks.ts';
import { forkTask } from '../src/fork-task.ts';

/** An order that is paid and then sent. `calls` counts what was done; `sends` says whether the parcel leaves. */
const shop = (sends: (turn: Turn) => boolean = () => false) => {
  const calls: string[] = [];
  const keys: string[] = [];
  const agent = async function* (turn: Turn) {
    const { step, text, memory, idempotencyKey } = turn;
    const paid = await step('pay', async () => {
      calls.push(`pay ${text}`);
      keys.push(await idempotencyKey('pay'));
      return { receipt: calls.length };
    });
    await memory.set('paid', paid.receipt);
    yield artifact('receipt', `Receipt ${paid.receipt}`);
    await step('send', async () => {
      calls.push(`send ${text}`);
      keys.push(await idempotencyKey('send'));
    });
    if (!sends(turn)) yield failed({ code: 'NO_PARCEL', message: 'The parcel did not leave' });
    yield completed(`Sent ${text}, paid ${await memory.get('paid')}`);
  };
  return { agent, calls, keys };
};

const logOf = async (store: ReturnType<typeof memoryStore>, id: string, at = scope) =>
  (await store.readFacts(at, id, 0, 1_000)).map(({ fact }) => fact);
const said = ({ status }: Task) => status.message?.parts;

describe('a fork', () => {
  it('reuses steps and memory up to a step, runs the rest again, and leaves its origin alone', async () => {
    let fixed = false;
    const { agent, calls, keys } = shop(() => fixed);
    const store = memoryStore();
    const server = serve(agent, { store, version: '1' });
    const message = say('tea', { referenceTaskIds: ['other'] });
    const { task } = await rpc(server, 'SendMessage', { message });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    const before = await logOf(store, task.id);
    fixed = true;
    const fork = await forkTask(server, task.id, { from: 'pay', by: 'support', labels: ['again'] });
    const done = await until(server, fork, 'COMPLETED');
    expect(said(done)).toEqual([{ text: 'Sent tea, paid 1' }]);
    expect(done.history?.[0]).toMatchObject({
      messageId: message.messageId,
      taskId: fork,
      referenceTaskIds: ['other', task.id],
    });
    expect(done.artifacts).toEqual([
      { artifactId: 'receipt', name: 'receipt', parts: [{ text: 'Receipt 1' }] },
    ]);
    expect(calls).toEqual(['pay tea', 'send tea', 'send tea']);
    expect(new Set(keys).size).toBe(3);
    expect(await logOf(store, task.id)).toEqual(before);
    const [first] = await logOf(store, fork);
    expect(first).toMatchObject({ forked: { taskId: task.id, by: 'support' }, labels: ['again'] });
    expect((await store.list(scope, { labels: ['again'], limit: 9 })).tasks).toHaveLength(1);
  });

  it('from the start runs all of it again, with another message if one is given', async () => {
    const { agent, calls } = shop(() => true);
    const server = serve(agent);
    const { task } = await rpc(server, 'SendMessage', { message: say('tea') });
    const again = await until(server, await forkTask(server, task.id), 'COMPLETED');
    expect(said(again)).toEqual([{ text: 'Sent tea, paid 3' }]);
    const other = await forkTask(server, task.id, { message: [{ text: 'coffee' }] });
    expect(said(await until(server, other, 'COMPLETED'))).toEqual([{ text: 'Sent coffee, paid 5' }]);
    expect(calls.filter((call) => call.startsWith('pay'))).toEqual(['pay tea', 'pay tea', 'pay coffee']);
  });

  it('from a question waits for an answer, and reuses those that came before its point', async () => {
    const store = memoryStore();
    const server = serve(
      async function* ({ memory, text }: Turn) {
        const [from, to] = [await memory.get('from'), await memory.get('to')];
        if (!from) {
          await memory.set('from', text);
          return yield inputRequired('Where to?');
        }
        if (!to) {
          await memory.set('to', text);
          return yield inputRequired('When?');
        }
        yield completed(`${from} to ${to}, ${text}`);
      },
      { store },
    );
    const send = async (text: string, taskId?: string): Promise<Task> =>
      (await rpc(server, 'SendMessage', { message: say(text, taskId ? { taskId } : {}) })).task;
    const { id } = await send('Rome');
    await send('Oslo', id);
    expect(said(await send('today', id))).toEqual([{ text: 'Rome to Oslo, today' }]);
    const facts = await logOf(store, id);
    const asked = facts.findIndex(({ type }) => type === 'turn-ended') + 1;
    const waiting = await forkTask(server, id, { from: asked });
    expect(said(await until(server, waiting, 'INPUT_REQUIRED'))).toEqual([{ text: 'Where to?' }]);
    expect(said(await send('Bergen', waiting))).toEqual([{ text: 'When?' }]);
    expect(said(await send('now', waiting))).toEqual([{ text: 'Rome to Bergen, now' }]);
    const answered = await forkTask(server, id, { from: asked, message: 'Turku' });
    expect(said(await until(server, answered, 'INPUT_REQUIRED'))).toEqual([{ text: 'When?' }]);
    const further = await forkTask(server, id, { from: asked + 1 });
    await until(server, further, 'INPUT_REQUIRED');
    expect(said(await send('later', further))).toEqual([{ text: 'Rome to Oslo, later' }]);
  });

  it('of a task that failed under one version goes on under another', async () => {
    const store = memoryStore();
    let isBroken = true;
    const make = (version: string) =>
      serve(
        async ({ step, taskId }: Turn) => {
          await step('one', () => version);
          if (isBroken) throw new Error('Broken');
          return {
            messageId: taskId,
            role: 'ROLE_AGENT',
            parts: [{ text: await step('two', () => version) }],
          };
        },
        { store, version: { name: version, deploys: 'pinned' }, restart: 'fail' },
      );
    const old = make('1');
    const { task } = await rpc(old, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    await old.close();
    isBroken = false;
    const next = make('2');
    const fork = await forkTask(next, task.id, { from: 'one' });
    expect(said(await until(next, fork, 'COMPLETED'))).toEqual([{ text: '2' }]);
    const steps = (await logOf(store, fork)).flatMap((fact) =>
      fact.type === 'step-completed' ? [[fact.name, fact.result]] : [],
    );
    expect(steps).toEqual([
      ['one', '1'],
      ['two', '2'],
    ]);
  });

  it('is made for the owner of the task alone, and within the limits', async () => {
    const { agent } = shop();
    const authenticate = ({ headers }: { headers: Record<string, string | undefined> }) => ({
      scope: headers['x-caller'] ?? 'nobody',
    });
    const server = serve(agent, {
      authenticate: authenticate as never,
      limits: { callers: { unfinishedTasks: 1 } },
    });
    const ada = { 'x-caller': 'ada' };
    const { task } = await rpc(server, 'SendMessage', { message: say('tea') }, ada);
    await expect(forkTask(server, task.id)).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await expect(forkTask(server, task.id, { caller: 'bob' })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    const fork = await forkTask(server, task.id, { caller: 'ada' });
    expect(fork).not.toBe(task.id);
    await expect(rpc(server, 'GetTask', { id: fork }, { 'x-caller': 'bob' })).rejects.toThrow();
  });
});

it('forks take their turns in a schedule, and are canceled together whatever version they are pinned to', async () => {
  const store = memoryStore();
  const agent = async function* ({ signal, text }: Turn) {
    if (text === 'go') yield completed('Gone');
    await new Promise((_, reject) => signal.addEventListener('abort', reject));
    yield completed();
  };
  const scheduled = serve(agent, { store, queue: { concurrency: 1 } });
  const { task } = await rpc(scheduled, 'SendMessage', { message: say('go') });
  const forks = await Promise.all([1, 2, 3].map(() => forkTask(scheduled, task.id)));
  for (const id of forks) expect(said(await until(scheduled, id, 'COMPLETED'))).toEqual([{ text: 'Gone' }]);
  await scheduled.close();
  const old = serve(agent, { store, version: { name: '1', deploys: 'pinned' }, restart: 'rerun' });
  const waiting = await forkTask(old, task.id, { message: 'wait' });
  await until(old, waiting, 'SUBMITTED');
  await eventually(() => expect(old.load.turns).toBe(1));
  await old.close({ graceMs: 0 });
  const next = serve(agent, { store, version: { name: '2', deploys: 'pinned' } });
  for await (const { failed: none } of bulkTasks(next, { action: 'cancel' })) expect(none).toBe(0);
  await until(next, waiting, 'CANCELED');
});

describe('a fork that cannot be made', () => {
  it('is refused with a sentence that says why', async () => {
    const server = serve(shop().agent);
    const { task } = await rpc(server, 'SendMessage', { message: say('tea') });
    const refused: [Parameters<typeof forkTask>[2], string][] = [
      [{ from: 'fly' }, 'the task has completed no step "fly"'],
      [{ from: 1_000 }, 'a position of this task is a whole number from 1 to'],
      [{ message: [] }, 'message.parts'],
      [{ labels: [''] }, 'The label "" is not a text'],
      [{ by: 'x'.repeat(1_025) }, 'must be a text of at most 1024 characters'],
    ];
    for (const [options, message] of refused)
      await expect(forkTask(server, task.id, options)).rejects.toMatchObject({
        reason: 'INVALID_PARAMS',
        message: expect.stringContaining(message),
      });
    await expect(forkTask(server, 'none')).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await server.close();
    await expect(forkTask(server, task.id)).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  });

  it('is made once although the answer of the store was lost', async () => {
    let lost = 0;
    const store = change(memoryStore(), {
      commit: (commit) => async (one) => {
        const done = await commit(one);
        const [fact] = one.facts;
        if (fact?.type !== 'message-received' || !fact.forked || lost++ > 0) return done;
        throw new StoreError('UNAVAILABLE', 'The answer was lost');
      },
    });
    const server = serve(shop(() => true).agent, { store });
    const { task } = await rpc(server, 'SendMessage', { message: say('tea') });
    const fork = await forkTask(server, task.id, { from: 'send' });
    expect(said(await until(server, fork, 'COMPLETED'))).toEqual([{ text: 'Sent tea, paid 1' }]);
    expect(lost).toBe(1);
    expect((await store.list(scope, { limit: 9 })).total).toBe(2);
  });

  it('leaves the queue as full as it may be', async () => {
    const server = serve(shop().agent, { run: 'workers', limits: { queuedTurns: 1 } as never });
    const { task } = await rpc(server, 'SendMessage', {
      message: say('tea'),
      configuration: { returnImmediately: true },
    });
    await expect(forkTask(server, task.id)).rejects.toMatchObject({ reason: 'RESOURCE_EXHAUSTED' });
  });
});
