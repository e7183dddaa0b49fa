import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { switchable, unavailable } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say, stream } from '../../../../../test/kit/rpc.ts';
import { until } from '../../../../../test/kit/until.ts';
import { StoreOutage } from '../../../src/base/store/store-outage.ts';
import { type Agent, createAgentServer, inputRequired, working } from '../../../src/index.ts';
import { createWorker, type WorkerOptions } from '../../../src/worker.ts';

type Line = readonly [level: string, message: string, details: Readonly<Record<string, unknown>>];

/** The record of a store that is asked by hand, on a clock that only the test moves. */
function watched() {
  const lines: Line[] = [];
  const state = { ms: 0, probes: 0, refusal: undefined as StoreError | undefined };
  const outage = new StoreOutage({
    clock: { monotonic: () => state.ms },
    logger: (...line) => void lines.push(line),
    queue: 'q',
    async probe() {
      state.probes++;
      if (state.refusal) throw state.refusal;
    },
  });
  /** A call each second that fails, or is answered. */
  const pass = async (seconds: number, error?: () => StoreError) => {
    for (let n = 0; n < seconds; n++) {
      state.ms += 1_000;
      if (error) outage.failed(error());
      else outage.answered();
      await Promise.resolve();
      await Promise.resolve();
    }
  };
  return { outage, lines, state, pass };
}

const full = () => new StoreError('UNAVAILABLE', 'tasks.db cannot grow', { trouble: 'disk-full' });

describe('An outage', () => {
  it('is one line when it begins, one a minute, and one when it ends', async () => {
    const { lines, pass } = watched();
    await pass(10);
    await pass(200, unavailable);
    await pass(60);
    expect(lines).toEqual([
      ['error', 'The store fails: It cannot be reached', { queue: 'q', reason: 'failing' }],
      ...[1, 2, 3].map((minute) => [
        'error',
        'The store still fails: It cannot be reached',
        { queue: 'q', reason: 'failing', outageMs: minute * 60_000, failedCalls: minute * 60 + 1 },
      ]),
      ['warn', 'The store works again', { queue: 'q', outageMs: 200_000, failedCalls: 200 }],
    ]);
  });

  it('goes on while reads are answered and writes fail', async () => {
    const { lines, state, pass } = watched();
    state.refusal = full();
    await pass(1, full);
    await pass(30);
    expect(lines.map(([, message, { reason }]) => [message, reason])).toEqual([
      ['The store fails: tasks.db cannot grow', 'disk-full'],
    ]);
    expect(state.probes).toBeGreaterThan(1);
    state.refusal = undefined;
    await pass(10);
    expect(lines.at(-1)).toEqual(['warn', 'The store works again', expect.objectContaining({ queue: 'q' })]);
  });

  it('goes on while some calls are answered and others fail', async () => {
    const { lines, pass } = watched();
    for (let n = 0; n < 50; n++) {
      await pass(1, unavailable);
      await pass(1);
    }
    expect(lines).toHaveLength(2);
  });

  it('goes on if a call fails while the store is asked whether it takes writes', async () => {
    const { outage, lines, state, pass } = watched();
    await pass(1, unavailable);
    state.ms += 10_000;
    outage.answered();
    outage.failed(unavailable());
    await pass(1);
    expect([state.probes, lines.length]).toEqual([1, 1]);
  });

  it('asks nothing while there is none', async () => {
    const { state, pass } = watched();
    await pass(10);
    expect(state.probes).toBe(0);
  });

  it('counts an error once, whoever reports it, and no error of one task', async () => {
    const { outage, lines, pass } = watched();
    const error = unavailable();
    outage.failed(new StoreError('UNREADABLE', 'Damaged'));
    outage.failed(new Error('A fault of the program'));
    outage.failed(new StoreError('UNUSABLE', 'tasks.db was replaced'));
    outage.failed(error);
    outage.report('Could not claim tasks', { error });
    await pass(20);
    expect(lines.map(([, message]) => message)).toEqual([
      'The store fails: tasks.db was replaced',
      'The store works again',
    ]);
    expect(lines[1]![2]).toMatchObject({ failedCalls: 2 });
  });

  it('leaves the lines of other errors to those who report them', () => {
    const { outage, lines } = watched();
    const error = new StoreError('UNREADABLE', 'Damaged');
    outage.report('A claimed task cannot be opened', { taskId: 't', error });
    expect(lines).toEqual([['error', 'A claimed task cannot be opened', { taskId: 't', error }]]);
  });
});

const agent: Agent = async function* ({ text, signal }) {
  if (text === 'ask') return yield inputRequired('Which?');
  yield working();
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
};

/** A clock that is a hundred times as fast. */
const fast = (() => {
  const from = { wall: Date.now(), ms: performance.now() };
  const monotonic = () => (performance.now() - from.ms) * 100;
  const now = () => from.wall + monotonic();
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms / 100);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
      if (signal?.aborted) resolve();
    });
  return { now, monotonic, sleep };
})();

/** Keeps the lines that are errors or warnings and no effect of the fast clock. */
const aboutStore =
  (lines: Line[]) =>
  (...line: Line): void => {
    const [level, message] = line;
    if (level !== 'info' && message !== 'The event loop was blocked') lines.push(line);
  };

describe.each(['server', 'worker'] as const)('A %s', (kind) => {
  const start = (store: TaskStore, logger: (...line: Line) => void) => {
    const options: WorkerOptions = {
      agent,
      store,
      logger,
      clock: fast,
      timeouts: { sweepMs: 1_000, interruptedMs: 1_000_000_000 },
      retention: { closedAfterMs: 1, everyMs: 1_000 },
    };
    const serving = createAgentServer({
      ...options,
      card: { name: 'Test', description: 'For tests' },
      run: kind === 'server' ? 'here' : 'workers',
      logger: kind === 'server' ? logger : () => {},
    });
    const worker = kind === 'worker' ? createWorker(options) : serving;
    onTestFinished(() =>
      Promise.all([worker.close({ graceMs: 0 }), serving.close({ graceMs: 0 })]).then(() => {}),
    );
    return { serving, worker };
  };

  it('says in one line without a stack that a turn could not be recorded', async () => {
    const lines: Line[] = [];
    const state = switchable(memoryStore());
    const { serving, worker } = start(state.store, (...line) => void lines.push(line));
    const now = { returnImmediately: true };
    const { task } = await rpc(serving, 'SendMessage', { message: say('go'), configuration: now });
    await until(serving, task.id, 'WORKING');
    state.isDown = true;
    await worker.close({ graceMs: 0 });
    const recorded = lines.filter(([, message]) => message === 'A turn could not be recorded');
    expect(recorded.map(([, , { taskId, reason, error }]) => [taskId, reason, error])).toEqual([
      [task.id, 'It cannot be reached', undefined],
    ]);
  });

  it('logs an outage of its store once, whatever it does: it claims, delivers, deletes, renews, follows and reads', async () => {
    const lines: Line[] = [];
    const state = switchable(memoryStore());
    const { serving, worker } = start(state.store, aboutStore(lines));
    const now = { returnImmediately: true };
    const running = await rpc(serving, 'SendMessage', { message: say('go'), configuration: now });
    const asked = await rpc(serving, 'SendMessage', { message: say('ask') });
    const follow = async (id: string) => {
      for await (const _ of stream(serving, 'SubscribeToTask', { id }));
    };
    const following = [running, asked].map(({ task }) => follow(task.id).catch(() => {}));
    await vi.waitFor(() => expect(serving.load.tasks).toBeGreaterThan(1));

    lines.length = 0;
    state.isDown = true;
    await vi.waitFor(() => expect(state.refused).toBeGreaterThan(100));
    const { refused } = state;
    const { length } = lines;
    expect(lines[0]).toEqual(['error', 'The store fails: It cannot be reached', expect.anything()]);
    // The next line counts all of these calls.
    await vi.waitFor(() => expect(lines.length).toBeGreaterThan(Math.max(length, 2)));
    expect(new Set(lines.slice(1).map(([, message]) => message))).toEqual(
      new Set(['The store still fails: It cannot be reached']),
    );
    // One a minute, and not one for each call.
    const outageMs = lines.slice(1).map(([, , details]) => Number(details.outageMs));
    expect(outageMs.every((ms, n) => ms - (outageMs[n - 1] ?? 0) >= 60_000)).toBe(true);
    expect(Number(lines.at(-1)![2].failedCalls)).toBeGreaterThan(refused / 2);

    state.isDown = false;
    await vi.waitFor(() => expect(lines.at(-1)![1]).toBe('The store works again'));
    await worker.close({ graceMs: 0 });
    await serving.close({ graceMs: 0 });
    await Promise.all(following);
  });

  it('that closes during an outage logs nothing after that', async () => {
    const lines: Line[] = [];
    const state = switchable(memoryStore());
    const { serving, worker } = start(state.store, aboutStore(lines));
    await rpc(serving, 'SendMessage', { message: say('go'), configuration: { returnImmediately: true } });
    state.isDown = true;
    await vi.waitFor(() =>
      expect(lines.map(([, message]) => message)).toContain('The store fails: It cannot be reached'),
    );
    await worker.close({ graceMs: 0 });
    await serving.close({ graceMs: 0 });
    const { refused } = state;
    const { length } = lines;
    // A minute of the fast clock, and more.
    await fast.sleep(100_000);
    expect([state.refused, lines.length]).toEqual([refused, length]);
  });
});
