import { setTimeout as sleep } from 'node:timers/promises';
import type { Commit, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { readLog } from '../../../../test/histories/history.ts';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  append,
  artifact,
  completed,
  inputRequired,
  reply,
  text,
  working,
} from '../../src/index.ts';

/**
 * How the server uses a store that fails, is slow or is shared: in docs/architecture.md, the invariants "One writer",
 * "Committed before acted upon" and "Cost follows what is new", and "When it goes otherwise". What clients get while the
 * store does not answer is in outage.test.ts.
 */
const now = { returnImmediately: true };
const serve = serveWith({
  timeouts: {
    // Long enough for a machine that does other things; a test where a process dies says how long it takes to notice.
    leaseMs: 10_000,
    sweepMs: 100,
    storeMs: 5_000,
  },
});
const factsOf = async (store: TaskStore, id: string) =>
  (await readLog(store, scope, id))?.facts.map(({ fact }) => fact.type) ?? [];

describe('a write whose outcome is unknown', () => {
  const isFirst = ({ expectedVersion }: Commit) => expectedVersion === 0;

  it.each(['before', 'after'])('that begins a task and fails %s it is done begins one task', async (when) => {
    const memory = memoryStore();
    let failures = 0;
    const store = change(memory, {
      commit: (commit) => async (one) => {
        if (!isFirst(one) || failures++ > 1) return commit(one);
        if (when === 'after') await commit(one);
        throw unavailable();
      },
    });
    let runs = 0;
    const server = serve(
      async function* () {
        runs++;
        yield completed();
      },
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect([task.status.state, runs, failures > 0]).toEqual(['TASK_STATE_COMPLETED', 1, true]);
    expect((await memory.list(scope, { limit: 10 })).total).toBe(1);
    expect(await factsOf(memory, task.id)).toEqual([
      'message-received',
      'task-created',
      'turn-started',
      'turn-ended',
      'status-changed',
    ]);
  });

  it('starts no agent before it is known what became of it', async () => {
    const memory = memoryStore();
    let down = false;
    let asked = 0;
    let done = false;
    const store = change(memory, {
      commit: (commit) => async (one) => {
        if (down) throw unavailable();
        const committed = await commit(one);
        if (done) return committed;
        done = true;
        down = true;
        throw unavailable();
      },
      readFacts:
        (readFacts) =>
        async (...args) => {
          asked++;
          if (down) throw unavailable();
          return readFacts(...args);
        },
    });
    let runs = 0;
    const server = serve(
      async function* () {
        runs++;
        yield completed();
      },
      { store },
    );
    const sent = rpc(server, 'SendMessage', { message: say('go') });
    await eventually(() => expect(asked).toBeGreaterThan(2));
    expect(runs).toBe(0);
    down = false;
    expect((await sent).task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(runs).toBe(1);
  });

  it('is sent again as it was, because the first attempt may still arrive', async () => {
    const memory = memoryStore();
    const ids: string[] = [];
    let late: (() => Promise<unknown>) | undefined;
    const store = change(memory, {
      commit: (commit) => async (one) => {
        if (one.facts[0]?.type !== 'artifact-updated') return commit(one);
        ids.push(one.commitId);
        if (ids.length === 1) {
          late = async () => commit(one);
          throw unavailable();
        }
        await late?.();
        return commit(one);
      },
    });
    const server = serve(
      async function* () {
        yield artifact('out', text('once'));
        yield completed();
      },
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(new Set(ids).size).toBe(1);
    expect(task.artifacts[0].parts).toEqual([{ text: 'once' }]);
    expect((await factsOf(memory, task.id)).filter((type) => type === 'artifact-updated')).toHaveLength(1);
  });

  it('whose lease was asked for in the same write gets that lease, not a recovery', async () => {
    const memory = memoryStore();
    let failed = false;
    const store = change(memory, {
      commit: (commit) => async (one) => {
        const committed = await commit(one);
        if (failed || !isFirst(one)) return committed;
        failed = true;
        throw unavailable();
      },
    });
    const attempts: number[] = [];
    const server = serve(
      async function* ({ attempt, fence }) {
        attempts.push(attempt, fence);
        yield completed();
      },
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect([task.status.state, attempts, failed]).toEqual(['TASK_STATE_COMPLETED', [1, 1], true]);
  });
});

describe('an open append', () => {
  it.each([0, 5])('reaches a runner that writes all the time, with a store that takes %i ms', async (ms) => {
    const memory = memoryStore();
    const slow = change(memory, { commit: (commit) => (one) => sleep(ms).then(() => commit(one)) });
    const server = serve(
      async function* ({ signal, inbox }) {
        yield artifact('out', text('0'));
        while (inbox.size === 0) yield append('out', text('.'));
        yield working(`heard ${(await inbox.take())?.messageId}`);
        while (!signal.aborted) yield append('out', text('.'));
      },
      { store: slow, timeouts: { cancelMs: 30_000 } },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    const message = say('more', { taskId: task.id });
    await rpc(server, 'SendMessage', { message, configuration: now });
    await eventually(async () => {
      const { status } = await rpc(server, 'GetTask', { id: task.id });
      expect(status.message?.parts).toEqual([{ text: `heard ${message.messageId}` }]);
    });
    expect((await rpc(server, 'CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('that is repeated changes nothing', async () => {
    const memory = memoryStore();
    let again = 0;
    // Every open append is done, and then said to have failed, once.
    const failed = new Set<string>();
    const store = change(memory, {
      commit: (commit) => async (one) => {
        const committed = await commit(one);
        if (one.expectedVersion !== 'open' || failed.has(one.commitId)) return committed;
        failed.add(one.commitId);
        again++;
        throw unavailable();
      },
    });
    const server = serve(
      async function* ({ inbox }) {
        yield working();
        await inbox.take();
        await new Promise(() => {});
      },
      { store, timeouts: { cancelGraceMs: 20 } },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    await rpc(server, 'SendMessage', { message: say('more', { taskId: task.id }), configuration: now });
    await Promise.all([1, 2, 3].map(() => rpc(server, 'CancelTask', { id: task.id })));
    const facts = await factsOf(memory, task.id);
    expect(facts.filter((type) => type === 'message-received')).toHaveLength(2);
    expect(facts.filter((type) => type === 'cancel-requested')).toHaveLength(1);
    expect(again).toBeGreaterThan(1);
  });
});

describe('a release', () => {
  it('never hides a message that came while it was written', async () => {
    const memory = memoryStore();
    let slipped = false;
    const store = change(memory, {
      commit: (commit) => async (one) => {
        if (one.turn?.release && !slipped) {
          slipped = true;
          // Through another process: this one learns of it only by the conflict.
          const message = say('meanwhile', { taskId: one.taskId });
          await rpc(other, 'SendMessage', { message, configuration: now });
        }
        return commit(one);
      },
    });
    const agent: Agent = async function* ({ messages }) {
      yield messages.length === 1 ? inputRequired('Well?') : completed(`after ${messages.length} messages`);
    };
    const other = serve(agent, { store: memory, run: 'workers' });
    const server = serve(agent, { store });
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    const ended = await until(server, task.id, 'COMPLETED');
    expect(ended.status.message?.parts).toEqual([{ text: 'after 3 messages' }]);
  });

  it('ends the right to write: what an agent kept changes nothing', async () => {
    const memory = memoryStore();
    let step: ((name: string, fn: () => number) => Promise<number>) | undefined;
    const server = serve(
      async function* (turn) {
        step ??= turn.step;
        yield inputRequired('Well?');
      },
      { store: memory },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    await expect(step?.('late', () => 1)).rejects.toThrow();
    expect(await factsOf(memory, task.id)).not.toContain('step-completed');
  });

  it('comes after a cancel of a task that waits, which needs no agent', async () => {
    let runs = 0;
    const server = serve(async function* () {
      runs++;
      yield inputRequired('Well?');
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect((await rpc(server, 'CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
    expect(runs).toBe(1);
  });
});

describe('a claim whose answer was lost', () => {
  it('is no recovery: the turn is still the first attempt', async () => {
    const memory = memoryStore();
    let lost = 0;
    const store = change(memory, {
      claim: (claim) => async (request) => {
        const leases = await claim(request);
        if (leases.length > 0 && lost++ === 0) throw unavailable();
        return leases;
      },
    });
    const attempts: number[] = [];
    const agent: Agent = async function* ({ attempt }) {
      attempts.push(attempt);
      yield completed();
    };
    const front = serve(agent, { store: memory, run: 'workers' });
    serve(agent, { store, timeouts: { leaseMs: 1_000 } });
    const { task } = await rpc(front, 'SendMessage', { message: say('go') });
    expect([task.status.state, attempts, lost]).toEqual(['TASK_STATE_COMPLETED', [1], 2]);
  });
});

describe('the message', () => {
  it('is in the log before the agent is called, for each kind of agent', async () => {
    const memory = memoryStore();
    for (const agent of [
      async function* ({ taskId }) {
        yield completed((await factsOf(memory, taskId)).join());
      },
      async ({ taskId }) => reply((await factsOf(memory, taskId)).join()),
    ] satisfies Agent[]) {
      const server = serve(agent, { store: memory });
      const answer = await rpc(server, 'SendMessage', { message: say('go') });
      const said = (answer.message ?? answer.task.status.message).parts[0].text;
      expect(said).toMatch(/^message-received,(task-created,)?turn-started$/);
    }
  });

  it('starts one task for authenticated callers, and one each for anonymous ones', async () => {
    const agent: Agent = async function* () {
      yield completed();
    };
    const message = say('again');
    const anonymous = serve(agent);
    const known = serve(agent, { authenticate: async () => ({ scope: 'ann' }) });
    const ids = async (server: AgentServer) =>
      new Set([
        (await rpc(server, 'SendMessage', { message })).task.id,
        (await rpc(server, 'SendMessage', { message })).task.id,
      ]).size;
    expect([await ids(anonymous), await ids(known)]).toEqual([2, 1]);
  });

  it.each([
    ['the wait ends first', {}],
    ['the client does not wait', now],
  ])('is a task for a hybrid agent when %s, and its message the end of it', async (_when, configuration) => {
    const memory = memoryStore();
    const answer = Promise.withResolvers<void>();
    const server = serve(
      async () => {
        await answer.promise;
        return reply('Here');
      },
      { store: memory, timeouts: { blockingMs: 30 } },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    answer.resolve();
    const ended = await until(server, task.id, 'COMPLETED');
    expect(ended.status.message?.parts).toEqual([{ text: 'Here' }]);
  });

  it('is no task while it is not one, and a failed one when its process died', async () => {
    const memory = memoryStore();
    let dead = false;
    const doomed = change(memory, {
      renew:
        (renew) =>
        (...args) =>
          dead ? new Promise(() => {}) : renew(...args),
      commit: (commit) => (one) => (dead ? new Promise(() => {}) : commit(one)),
    });
    let id = '';
    const dying: Agent = async ({ taskId }) => {
      id = taskId;
      return new Promise(() => {});
    };
    const server = serve(dying, { store: doomed, timeouts: { leaseMs: 1_000, storeMs: 500 } });
    const sent = rpc(server, 'SendMessage', { message: say('go') });
    sent.catch(() => {});
    await eventually(() => expect(id).not.toBe(''));
    await expect(rpc(server, 'GetTask', { id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await expect(rpc(server, 'CancelTask', { id })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect((await rpc(server, 'ListTasks', {})).totalSize).toBe(0);
    dead = true;
    await until(
      serve(async () => reply(''), { store: memory }),
      id,
      'FAILED',
    );
  });
});

describe('scope and queue', () => {
  it('keep the tasks of other callers and other agents apart, on one store', async () => {
    const memory = memoryStore();
    const agent = (name: string): Agent =>
      async function* () {
        yield completed(name);
      };
    const authenticate: AgentServerOptions['authenticate'] = async ({ headers }) => ({
      scope: headers['x-user'] ?? '',
    });
    const one = serve(agent('one'), { store: memory, name: 'one', authenticate });
    const two = serve(agent('two'), { store: memory, name: 'two', authenticate });
    const [ann, bob] = [{ 'x-user': 'ann' }, { 'x-user': 'bob' }];
    const { task } = await rpc(one, 'SendMessage', { message: say('go') }, ann);
    expect(task.status.message.parts).toEqual([{ text: 'one' }]);
    const strangers = [rpc(one, 'GetTask', { id: task.id }, bob), rpc(two, 'GetTask', { id: task.id }, ann)];
    for (const asked of strangers) await expect(asked).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect((await rpc(one, 'GetTask', { id: task.id }, ann)).id).toBe(task.id);
  });
});

describe('cost', () => {
  it('of snapshots is that of the log, not of its square', async () => {
    const memory = memoryStore();
    let snapshots = 0;
    const store = change(memory, {
      commit: (commit) => (one) => {
        if (one.snapshot) snapshots++;
        return commit(one);
      },
    });
    const server = serve(
      async function* () {
        yield artifact('out', text('0'));
        for (let n = 1; n < 1_500; n++) yield append('out', text(String(n)));
        yield completed();
      },
      { store },
    );
    await rpc(server, 'SendMessage', { message: say('go') });
    // Each is worth as much as all before it: few, however long the log.
    expect(snapshots).toBeGreaterThan(2);
    expect(snapshots).toBeLessThan(10);
  });

  it('of followers in one process is that of one: they share a tail', async () => {
    const memory = memoryStore();
    let watches = 0;
    let reads = 0;
    const store = change(memory, {
      subscribe: (subscribe) => (topic, notify) => {
        if ('taskId' in topic) watches++;
        return subscribe(topic, notify);
      },
      readFacts:
        (readFacts) =>
        (...args) => {
          reads++;
          return readFacts(...args);
        },
    });
    const go = Promise.withResolvers<void>();
    const agent: Agent = async function* () {
      yield artifact('out', text('0'));
      await go.promise;
      for (let n = 1; n < 50; n++) yield append('out', text(String(n)));
      yield completed();
    };
    // Sweeps would add reads, as many as there is time for.
    const server = serve(agent, { store, timeouts: { sweepMs: Number.POSITIVE_INFINITY } });
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    const followers = Array.from({ length: 40 }, () => stream(server, 'SubscribeToTask', { id: task.id }));
    const first = await Promise.all(followers.map((follower) => follower.next()));
    for (const { value } of first) expect(value?.event).toHaveProperty('task');
    expect(reads).toBeGreaterThan(0);
    reads = 0;
    go.resolve();
    // The artifact is in the task they begin with, or comes after it.
    for (const seen of await Promise.all(followers.map(collect)))
      expect(seen.slice(-50)).toEqual([...Array.from({ length: 49 }, (_, n) => `out:${n + 1}`), 'COMPLETED']);
    expect(watches).toBe(1);
    expect(reads).toBeLessThan(60);
  });
});

describe('a message of megabytes', () => {
  const large = { message: say('x'.repeat(1_000_000)) };
  const counted = () => {
    let reads = 0;
    const store = change(memoryStore(), {
      readFacts:
        (readFacts) =>
        (...args) => {
          reads++;
          return readFacts(...args);
        },
    });
    return { store, reads: () => reads };
  };
  const agents: Record<string, Agent> = {
    'a message': () => reply('done'),
    'a task': async function* () {
      yield completed();
    },
  };

  it.each(Object.entries(agents))('is not read back by the request that brought it: %s', async (_, agent) => {
    const { store, reads } = counted();
    const server = serve(agent, { store });
    await rpc(server, 'SendMessage', large);
    await collect(
      stream(server, 'SendStreamingMessage', { message: { ...large.message, messageId: 'other' } }),
    );
    expect(reads()).toBe(0);
  });
});

describe('the store', () => {
  it('is not closed with its server', async () => {
    const memory = memoryStore();
    let closed = 0;
    const store = change(memory, {
      close: (close) => () => {
        closed++;
        return close();
      },
    });
    const server = serve(
      async function* () {
        yield completed();
      },
      { store },
    );
    await rpc(server, 'SendMessage', { message: say('go') });
    await server.close();
    expect(closed).toBe(0);
  });

  it('decides by its own clock how long a lease lives, however wrong that of a server is', async () => {
    const memory = memoryStore();
    const attempts: number[] = [];
    const go = Promise.withResolvers<void>();
    const agent: Agent = async function* ({ attempt }) {
      attempts.push(attempt);
      yield working();
      await go.promise;
      yield completed();
    };
    const hour = 3_600_000;
    const wrong = (by: number, store: TaskStore = memory) =>
      serve(agent, { store, restart: 'rerun', clock: { now: () => Date.now() + by } });
    const early = wrong(-hour);
    const sent = rpc(early, 'SendMessage', { message: say('go') });
    await eventually(() => expect(attempts).toEqual([1]));
    let claims = 0;
    const counting = change(memory, {
      claim: (claim) => async (request) => {
        const leases = await claim(request);
        claims++;
        return leases;
      },
    });
    const late = wrong(hour, counting);
    await eventually(() => expect(claims).toBeGreaterThan(3));
    go.resolve();
    const { task } = await sent;
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(attempts).toEqual([1]);
    expect((await rpc(late, 'GetTask', { id: task.id })).status.state).toBe('TASK_STATE_COMPLETED');
  });
});
