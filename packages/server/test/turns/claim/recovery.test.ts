import type { Fact } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  completed,
  working,
} from '../../../src/index.ts';

/** Who is blamed when a process dies with many turns, and how they are tried again. */

const now = { returnImmediately: true };

/** A process on a store; when it is killed, nothing of it reaches the store any more. */
function processOn(store: TaskStore, agent: Agent, options: Partial<AgentServerOptions> = {}) {
  let isDead = false;
  const mortal = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => (isDead ? new Promise(() => {}) : member.apply(target, args));
    },
  });
  const server = serve(agent, {
    store: mortal,
    restart: 'rerun',
    ...options,
    timeouts: { leaseMs: 300, storeMs: 300, ...options.timeouts },
  });
  const kill = () => {
    isDead = true;
  };
  return { server, kill };
}

const start = async (server: AgentServer, text: string): Promise<string> =>
  (await rpc(server, 'SendMessage', { message: say(text), configuration: now })).task.id;
const stateOf = async (server: AgentServer, id: string): Promise<string> =>
  (await rpc(server, 'GetTask', { id })).status.state.slice('TASK_STATE_'.length);
const factsOf = async (store: TaskStore, id: string): Promise<Fact[]> =>
  (await store.readFacts(scope, id, 0, 1_000)).map(({ fact }) => fact);
const attemptsOf = async (store: TaskStore, id: string) =>
  (await factsOf(store, id)).filter((fact) => fact.type === 'turn-started');
const patiently = { timeout: 20_000, interval: 5 };

describe('a turn that ends its process as soon as it starts', () => {
  it('is FAILED after its attempts, and none of those that ran beside it is', async () => {
    const store = memoryStore();
    let current: ReturnType<typeof processOn> | undefined;
    const agent: Agent = async function* ({ text, attempt }) {
      if (text === 'poison') current?.kill();
      // Those beside it have written nothing yet when their process dies the first time.
      if (attempt === 1) await new Promise(() => {});
      // One write: the next turn is not tried before this one has ended.
      yield completed();
    };
    const deaths: string[] = [];
    const open = () => processOn(store, agent, { restart: { maxAttempts: 2 } });
    let process_ = open();
    current = undefined;
    const beside: string[] = [];
    for (let n = 0; n < 10; n++) beside.push(await start(process_.server, 'innocent'));
    const poison = await start(process_.server, 'poison');
    process_.kill();
    const front = processOn(store, agent, { run: 'workers' }).server;
    for (let n = 0; n < 10; n++) {
      let died = () => {};
      const death = new Promise<void>((resolve) => {
        died = resolve;
      });
      process_ = open();
      const { kill } = process_;
      current = {
        ...process_,
        kill() {
          kill();
          deaths.push('died');
          died();
        },
      };
      const failed = vi.waitFor(async () => expect(await stateOf(front, poison)).toBe('FAILED'), patiently);
      await Promise.race([death, failed]);
      failed.catch(() => {});
      if ((await stateOf(front, poison)) === 'FAILED') break;
    }
    for (const id of beside)
      await vi.waitFor(async () => expect(await stateOf(front, id)).toBe('COMPLETED'), patiently);
    expect(await stateOf(front, poison)).toBe('FAILED');
    // The first attempt of each ran in a crowd and wrote nothing: it does not count.
    expect(deaths).toHaveLength(2);
    expect(await attemptsOf(store, poison)).toHaveLength(3);
  });
});

describe('turns that a dead process left', () => {
  /** Leaves so many turns behind that have written nothing. */
  async function leave(store: TaskStore, agent: Agent, turns: number): Promise<string[]> {
    const { server, kill } = processOn(store, agent);
    const ids: string[] = [];
    for (let n = 0; n < turns; n++) ids.push(await start(server, `${n}`));
    kill();
    return ids;
  }

  it('are started one after another, the next when the one before has written something', async () => {
    const store = memoryStore();
    let silent = 0;
    let most = 0;
    const agent: Agent = async function* ({ attempt }) {
      if (attempt === 1) await new Promise(() => {});
      most = Math.max(most, ++silent);
      // The others would start in this time.
      for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
      silent--;
      yield working();
      yield completed();
    };
    const ids = await leave(store, agent, 8);
    const { server } = processOn(store, agent, { timeouts: { leaseMs: 60_000 } });
    for (const id of ids)
      await vi.waitFor(async () => expect(await stateOf(server, id)).toBe('COMPLETED'), patiently);
    expect(most).toBe(1);
  });

  it('do not wait forever for one that writes nothing', async () => {
    const store = memoryStore();
    let runs = 0;
    const agent: Agent = async function* ({ attempt }) {
      if (attempt === 1 || ++runs === 1) await new Promise(() => {});
      yield completed();
    };
    const ids = await leave(store, agent, 3);
    const { server } = processOn(store, agent);
    await vi.waitFor(async () => {
      const states = await Promise.all(ids.map((id) => stateOf(server, id)));
      expect(states.toSorted()).toEqual(['COMPLETED', 'COMPLETED', 'SUBMITTED']);
    }, patiently);
  });

  it('are given to other processes when the one that has them closes', async () => {
    const store = memoryStore();
    let runs = 0;
    const agent: Agent = async function* ({ attempt }) {
      if (attempt === 1 || ++runs === 1) await new Promise(() => {});
      yield completed();
    };
    const ids = await leave(store, agent, 3);
    // It starts one, and would start the next after six seconds. Their leases are a minute long.
    const { server } = processOn(store, agent, { timeouts: { leaseMs: 60_000 } });
    await vi.waitFor(() => expect(runs).toBe(1), patiently);
    await server.close({ graceMs: 0 });
    const next = processOn(store, agent).server;
    for (const id of ids)
      await vi.waitFor(async () => expect(await stateOf(next, id)).toBe('COMPLETED'), patiently);
  });
});
