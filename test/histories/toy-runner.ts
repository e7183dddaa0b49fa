import { decide, evolve, type Fact, type Head, headOf, type State } from '@batonjs/lifecycle';
import { type Commit, type Lease, loadTask, StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { follow } from '../../packages/store-conformance/src/fixture/follow.ts';
import { chunk, received } from '../../packages/store-conformance/src/samples/facts.ts';
import { faultyStore, type Sabotage, sabotage } from './faults.ts';
import { checkHistory, type KeptLog, type Observation, readLog, type Violation } from './history.ts';

const chunks = 4;
const ttlMs = 40;
const scope = 's';
const at = '2026-01-01T00:00:00.000Z';

/** A turn that cannot go on: the lease is lost. */
class Lost extends Error {}

/**
 * Two clients send each message; three runners share the tasks over a store with faults, stall for longer than their
 * leases, and take over from each other while followers read. The seed decides everything. Returns what the checker finds.
 */
export async function simulate(seed: number, what?: Sabotage): Promise<Violation[]> {
  let state = seed * 7_919 + 1;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
  let time = Date.parse(at);
  let active = true;
  const sleepers: { at: number; wake: () => void }[] = [];
  const sleep = (ms: number) => new Promise<void>((wake) => sleepers.push({ at: time + ms, wake }));

  /** Ends the shortest sleep once no other work is left. */
  async function drive(): Promise<void> {
    for (; active || sleepers.length > 0; await new Promise((resolve) => setImmediate(resolve))) {
      sleepers.sort((a, b) => a.at - b.at);
      const next = sleepers.shift();
      time = next?.at ?? time;
      next?.wake();
    }
  }

  const kept = memoryStore({ now: () => time, monotonic: () => time });
  const broken = what ? sabotage(kept, what) : kept;
  const rates = { delay: 0.2, failBefore: 0.1, failAfter: 0.15, repeatNotification: 0.1 };
  const store = faultyStore(broken, { random, rates, sleep, maxDelayMs: 10, active: () => active });
  const taskIds = ['t1', 't2', 't3'];
  const observations: Observation[] = [];
  let commits = 0;

  /** Retries while the store is unavailable. */
  async function surely<T>(act: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!StoreError.is(error, 'UNAVAILABLE')) throw error;
        await sleep(1);
      }
    }
  }

  /** Resolves whether it was committed: finds out from the log where the answer was lost. */
  async function commitOnce(commit: Commit): Promise<boolean> {
    for (;;) {
      const error: unknown = await Promise.resolve(store.commit(commit)).then(
        () => undefined,
        (cause: unknown) => cause ?? new Error(),
      );
      if (!error) return true;
      if (
        !['UNAVAILABLE', 'VERSION_CONFLICT', 'FENCED', 'LOG_CLOSED'].some((code) =>
          StoreError.is(error, code as never),
        )
      )
        throw error;
      const [next] = await surely(() =>
        store.readFacts(scope, commit.taskId, Number(commit.expectedVersion), 1),
      );
      if (next) return next.commitId === commit.commitId;
      if (StoreError.is(error, 'FENCED')) return false;
    }
  }

  /** Decides on the newest log until it is committed. */
  async function write(lease: Lease, decideOn: (state: State) => Fact[], release = false): Promise<State> {
    for (;;) {
      const state = (await surely(() => loadTask(store, scope, lease.taskId)))!;
      if (state.closed) throw new Lost();
      const facts = decideOn(state);
      const { head } = (await surely(() => store.load(scope, lease.taskId)))!;
      const commit: Commit = {
        scope,
        taskId: lease.taskId,
        commitId: `c${++commits}`,
        expectedVersion: state.version,
        facts,
        head: facts.reduce<Head>(headOf, { ...head, version: state.version }),
        writer: { fence: lease.fence, holder: lease.holder },
        turn: { queue: lease.queue, release },
      };
      if (await commitOnce(commit)) return facts.reduce<State>(evolve, state);
      const [renewed] = await surely(() => store.renew([lease], ttlMs));
      if (!renewed) throw new Lost();
    }
  }

  async function run(lease: Lease): Promise<void> {
    const started = await write(lease, (state) => decide(state, { type: 'start-turn' }, at));
    const { attempt } = started.openTurn!;
    for (let n = 1; n <= chunks; n++) {
      await sleep(random() < 0.15 ? 2 * ttlMs : 2);
      const made = {
        ...chunk(n),
        artifact: { artifactId: `of ${attempt}`, parts: [{ data: { chunk: n, attempt } }] },
      };
      await write(lease, () => [{ ...made, append: n > 1 } as Fact]);
    }
    const done = { status: { state: 'TASK_STATE_COMPLETED' } } as const;
    await write(lease, (state) => decide(state, { type: 'update', update: done }, at));
  }

  async function runner(name: string): Promise<void> {
    for (let n = 0; active; n++) {
      const request = { queue: 'q', holder: `${name} ${n}`, ttlMs, limit: 1 };
      const [lease] = await surely(() => store.claim(request));
      await sleep(3);
      if (!lease) continue;
      await run(lease).catch((error) => {
        if (!(error instanceof Lost) && error?.reason === undefined) throw error;
      });
    }
  }

  async function follower(taskId: string): Promise<void> {
    const stop = new AbortController();
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { version, fact } of follow(broken, scope, taskId, 0, { signal: stop.signal })) {
        if (fact.type === 'status-changed' || fact.type === 'artifact-updated') seen.push(version);
      }
    })();
    while (active) await sleep(1);
    await sleep(1);
    stop.abort();
    await reading;
    const events = seen.map((position) => ({ position }));
    observations.push({ type: 'stream', client: 'follower', taskId, after: 0, events, complete: true });
  }

  async function settle(): Promise<void> {
    for (let n = 0; n < 4_000; n++) {
      const logs = await Promise.all(taskIds.map((taskId) => kept.load(scope, taskId)));
      if (logs.every((log) => log?.head.closed)) break;
      await sleep(1);
    }
    active = false;
  }

  /** Sends the message that starts a task; another client may have sent the same one. */
  async function sender(client: string, taskId: string): Promise<void> {
    const facts: Fact[] = [received('m1'), { format: 1, at, type: 'task-created', taskId, contextId: 'c' }];
    const head = facts.reduce<Head | undefined>(headOf, undefined);
    const turn = { queue: 'q', want: true };
    await commitOnce({
      scope,
      taskId,
      commitId: `${client} ${taskId}`,
      expectedVersion: 0,
      facts,
      head,
      turn,
    });
    observations.push({ type: 'accepted', client, taskId, messageId: 'm1' });
  }

  const senders = taskIds.flatMap((taskId) => [sender('one', taskId), sender('two', taskId)]);
  await Promise.all([
    ...senders,
    ...['a', 'b', 'c'].map(runner),
    ...taskIds.map(follower),
    settle(),
    drive(),
  ]);
  const logs = (await Promise.all(taskIds.map((taskId) => readLog(kept, scope, taskId)))) as KeptLog[];
  return checkHistory({ logs, observations, settled: true });
}
