import { setImmediate as soon } from 'node:timers/promises';
import type { Task } from '@batonjs/protocol';
import { SCHEDULING } from '@batonjs/protocol/headers';
import type { TaskStore } from '@batonjs/store';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type Agent, type AgentServer, completed, working } from '../../src/index.ts';

/** How turns of an agent with a schedule follow each other. `newStore` makes an empty store; the caller closes it. */
export function scheduleScenarios(newStore: () => TaskStore): void {
  const serve = serveWith({
    authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'anonymous' }),
    card: {
      name: 'Test',
      description: 'For tests',
      capabilities: { extensions: [{ uri: SCHEDULING }] },
    },
  });

  interface Sent {
    readonly caller?: string;
    readonly contextId?: string;
    readonly priority?: number;
    readonly notBefore?: Date;
  }

  async function send(server: AgentServer, text: string, sent: Sent = {}): Promise<Task> {
    const { caller = 'ann', contextId, priority, notBefore } = sent;
    const wish = {
      ...(priority !== undefined && { priority }),
      ...(notBefore && { notBefore: notBefore.toISOString() }),
    };
    const params = {
      message: say(text, { ...(contextId && { contextId }), metadata: { [SCHEDULING]: wish } }),
      configuration: { returnImmediately: true },
    };
    const headers = { 'x-caller': caller, 'a2a-extensions': SCHEDULING };
    return (await rpc(server, 'SendMessage', params, headers)).task;
  }

  /** An agent whose turns wait until they are let go; `started` has their texts, in order. */
  function gated() {
    const started: string[] = [];
    const gates = new Map<string, PromiseWithResolvers<void>>();
    const gateOf = (text: string) => {
      const gate = gates.get(text) ?? Promise.withResolvers<void>();
      gates.set(text, gate);
      return gate;
    };
    const agent: Agent = async function* ({ text, signal }) {
      started.push(text);
      yield working();
      const canceled = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await Promise.race([gateOf(text).promise, canceled]);
      yield completed(text);
    };
    const letGo = (...texts: string[]) => {
      for (const text of texts) gateOf(text).resolve();
    };
    return { agent, started, letGo };
  }

  const has = (started: readonly string[], ...texts: string[]) =>
    eventually(() => expect(started).toEqual(expect.arrayContaining(texts)));

  it('lets no more turns run at once than its concurrency, in all processes together', async () => {
    const store = newStore();
    let running = 0;
    let most = 0;
    const pair = { waits: undefined as (() => void) | undefined };
    const agent: Agent = async function* ({ text }) {
      running++;
      most = Math.max(most, running);
      yield working();
      // Ends when another turn runs beside it.
      await new Promise<void>((resolve) => {
        const { waits } = pair;
        pair.waits = waits ? undefined : resolve;
        if (!waits) return;
        waits();
        resolve();
      });
      for (let n = 0; n < 5; n++) await soon();
      running--;
      yield completed(text);
    };
    const schedule = { concurrency: 2 };
    const servers = [serve(agent, { store, queue: schedule }), serve(agent, { store, queue: schedule })];
    const tasks = await Promise.all(
      Array.from({ length: 12 }, (_, n) => send(servers[n % 2]!, `t${n}`, { caller: `c${n % 3}` })),
    );
    for (const [n, { id }] of tasks.entries())
      await eventually(async () => {
        const task = await rpc(servers[0]!, 'GetTask', { id }, { 'x-caller': `c${n % 3}` });
        expect(task.status.state).toBe('TASK_STATE_COMPLETED');
      });
    expect(most).toBe(2);
  });

  it('lets one caller have no more turns than it may, and others go past', async () => {
    const { agent, started, letGo } = gated();
    const store = newStore();
    const schedule = { perCaller: 1 };
    const [a, b] = [serve(agent, { store, queue: schedule }), serve(agent, { store, queue: schedule })];
    await send(a, 'first of ann');
    await has(started, 'first of ann');
    await send(b, 'second of ann');
    await send(a, 'bob', { caller: 'bob' });
    await has(started, 'bob');
    letGo('bob');
    expect(started).toEqual(['first of ann', 'bob']);
    letGo('first of ann');
    await has(started, 'second of ann');
    letGo('second of ann');
  });

  it('runs the tasks of one context one after the other, and others beside them', async () => {
    const { agent, started, letGo } = gated();
    const store = newStore();
    const schedule = { perContext: 1 };
    const [a, b] = [serve(agent, { store, queue: schedule }), serve(agent, { store, queue: schedule })];
    const { contextId } = await send(a, 'first');
    await has(started, 'first');
    await send(b, 'second', { contextId: contextId! });
    await send(b, 'elsewhere');
    await has(started, 'elsewhere');
    expect(started).toEqual(['first', 'elsewhere']);
    letGo('first');
    await has(started, 'second');
    letGo('second', 'elsewhere');
  });

  it('starts the most urgent message of a caller next', async () => {
    const { agent, started, letGo } = gated();
    const server = serve(agent, { store: newStore(), queue: { concurrency: 1 } });
    await send(server, 'running');
    await has(started, 'running');
    await send(server, 'usual');
    await send(server, 'urgent', { priority: 9 });
    await send(server, 'less urgent', { priority: 2 });
    letGo('running', 'urgent', 'less urgent', 'usual');
    await has(started, 'usual');
    expect(started).toEqual(['running', 'urgent', 'less urgent', 'usual']);
  });

  it('lets a caller with many waiting tasks delay those of another by one turn', async () => {
    const { agent, started, letGo } = gated();
    const store = newStore();
    const server = serve(agent, { store, queue: { concurrency: 1 } });
    const texts = Array.from({ length: 40 }, (_, n) => `ann ${n}`);
    for (const text of texts) await send(server, text);
    await has(started, started[0] ?? 'ann 0');
    await send(server, 'bob', { caller: 'bob' });
    const before = started.length;
    letGo(...texts, 'bob');
    await has(started, 'bob');
    expect(started.indexOf('bob') - before).toBeLessThanOrEqual(1);
  });

  it('cancels a task that waits at once, though no turn may start', async () => {
    const { agent, started, letGo } = gated();
    const server = serve(agent, { store: newStore(), queue: { concurrency: 1 } });
    await send(server, 'running');
    await has(started, 'running');
    const { id } = await send(server, 'waiting');
    const canceled = await rpc(server, 'CancelTask', { id }, { 'x-caller': 'ann' });
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    letGo('running');
    expect(started).toEqual(['running']);
  });

  it('holds for messages whose time has come', async () => {
    const { agent, started, letGo } = gated();
    const server = serve(agent, { store: newStore(), queue: { concurrency: 1 } });
    await send(server, 'running');
    await has(started, 'running');
    const notBefore = new Date(Date.now() + 50);
    for (const caller of ['ann', 'bob']) await send(server, `of ${caller}`, { caller, notBefore });
    await eventually(() => expect(Date.now()).toBeGreaterThan(notBefore.getTime() + 200));
    expect(started).toEqual(['running']);
    letGo('running', 'of ann', 'of bob');
    await has(started, 'of ann', 'of bob');
    // The caller that had no turn yet comes first.
    expect(started).toEqual(['running', 'of bob', 'of ann']);
  });
}
