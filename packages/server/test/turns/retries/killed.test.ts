import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Fact, type FactOf, replay } from '@batonjs/lifecycle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type MediumName, mediumOf } from '../../../../../scripts/chaos/medium.ts';
import { closedAfterTest } from '../../../../../test/kit/closed-after-test.ts';
import { repetitions } from '../../../../../test/kit/repetitions.ts';
import { rpc } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually } from '../../../../../test/kit/until.ts';
import { builtProgram } from '../../../../../test/support/built-program.ts';
import { canStartEtcd } from '../../../../../test/support/etcd.ts';
import { canStartPostgres } from '../../../../../test/support/postgres.ts';
import { canStart } from '../../../../../test/support/redis.ts';
import { stubbornAgent, stubbornly } from './stubborn-agent.ts';

const program = await builtProgram(new URL('./die-at-commit.ts', import.meta.url));
const options = ['--disable-warning=ExperimentalWarning', program];

/** Runs a process until it is killed at a commit. Resolves whether it was; it has no such commit otherwise. */
async function dies(...args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [...options, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [code, signal] = await ended;
  if (signal !== 'SIGKILL') expect(code).toBe(7);
  return signal === 'SIGKILL';
}

/** Kills a process at a commit, lets another one go on, and returns the log of the task. */
async function logAfterKill(
  medium: MediumName,
  location: string,
  at: number,
  dying: string,
): Promise<Fact[]> {
  await dies(medium, location, String(at), dying);
  const store = closedAfterTest(await mediumOf(medium).open(location));
  const server = serve(stubbornAgent, { store, ...stubbornly });
  const { tasks } = await store.list(scope, { limit: 10 });
  const [id] = tasks.map(({ taskId }) => taskId);
  // Killed before the first commit: there is no task.
  if (id === undefined) return [];
  await eventually(async () => {
    const { status } = await rpc(server, 'GetTask', { id });
    expect(status.state).toBe('TASK_STATE_COMPLETED');
  });
  const log = (await store.readFacts(scope, id, 0, 1_000)).map(({ fact }) => fact);
  await server.close();
  return log;
}

/** What holds of the log of a task whose process was killed anywhere. */
function check(log: readonly Fact[]): void {
  const of = <T extends Fact['type']>(type: T) => log.filter((fact) => fact.type === type) as FactOf<T>[];
  // Each step was completed once, and none of its failures was forgotten or counted twice.
  expect(
    of('step-completed')
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['late', 'plan', 'soon']);
  expect(of('step-failed').map(({ name, attempt }) => `${name} ${attempt}`)).toEqual([
    'soon 1',
    'soon 2',
    'late 1',
  ]);
  // Nothing was tried before its time.
  let due = '';
  for (const fact of log) {
    if (fact.type === 'step-failed' || fact.type === 'turn-failed') due = fact.retryAt ?? '';
    if (fact.type === 'step-completed' && fact.name !== 'plan') expect(fact.at >= due).toBe(true);
  }
  // Nothing was read that was not written, and nothing that was written is lost.
  const counts = of('memory-changed').flatMap(({ changes }) =>
    changes.attempts === undefined ? [] : [changes.attempts],
  );
  expect(counts).toEqual(counts.map((_, n) => n + 1));
  // A line is in the commit that the agent made after it.
  const lines = of('turn-logged').flatMap(({ attempt, lines: [line] }) => `${line?.text} in ${attempt}`);
  expect(lines).toHaveLength(counts.length);
  for (const line of lines) expect(line).toMatch(/^Attempt (\d+) in \1$/);
  expect(replay(log)?.agent).toMatchObject({
    memory: { attempts: counts.length, done: true },
    steps: { plan: 'made' },
  });
  // The agent threw once in the log, or its process was killed between the memory of that and the fact.
  expect(of('turn-failed').length).toBeLessThanOrEqual(1);
  // Every attempt but one ended: because it threw, because it waited, or because it was killed.
  const ended = of('turn-failed').length + of('turn-paused').length;
  expect([0, 1]).toContain(of('turn-started').length - 1 - ended);
  expect(of('turn-started').map(({ turn, attempt }) => [turn, attempt])).toEqual(
    of('turn-started').map((_, n) => [1, n + 1]),
  );
}

/** The task has so many commits if nothing is killed. */
const commits = 17;
const isLong = repetitions(0, 1) === 1;
const points = isLong ? Array.from({ length: commits }, (_, n) => n + 1) : [5, 11];
const ways = points.flatMap((at) => [[at, 'before'] as const, [at, 'after'] as const]);
const stores: readonly (readonly [MediumName, boolean])[] = isLong
  ? [
      ['sqlite', true],
      ['redis', await canStart()],
      ['postgres', await canStartPostgres()],
      ['etcd', await canStartEtcd()],
    ]
  : [['sqlite', true]];

/** How many tasks run at once: each waits for seconds. */
const atOnce = 4;

describe.each(stores)('on %s, a process that is killed at any commit', (medium, isThere) => {
  it.skipIf(!isThere)(
    'loses no memory, counts no try twice, and tries nothing too early',
    async () => {
      for (let n = 0; n < ways.length; n += atOnce) {
        const logs = ways.slice(n, n + atOnce).map(async ([at, dying]) => {
          const place = await mediumOf(medium).prepare(undefined);
          onTestFinished(() => place.remove());
          return logAfterKill(medium, place.location, at, dying);
        });
        for (const log of await Promise.all(logs)) if (log.length > 0) check(log);
      }
    },
    600_000,
  );
});
