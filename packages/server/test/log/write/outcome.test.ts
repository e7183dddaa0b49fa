import { type Commit, type Lease, type StoredFact, StoreError } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import type { LiveTask } from '../../../src/log/live-task.ts';
import { commitIdAt } from '../../../src/log/report-lost-facts.ts';
import { outcomeAfter, outcomeOfRepeated, type VersionedCommit } from '../../../src/log/write/outcome.ts';

type Code = ConstructorParameters<typeof StoreError>[0];

const failure = (code: Code) => new StoreError(code, code);
const facts = (...ids: string[]) =>
  ids.map((commitId, n) => ({ version: n + 4, commitId }) as unknown as StoredFact);
const commit = (more: Partial<Commit> = {}) =>
  ({
    ...{ scope: 's', taskId: 't', commitId: 'own', expectedVersion: 3, facts: [{}, {}] },
    ...more,
  }) as VersionedCommit;

/** A task on a store that answers reads and claims one after the other. */
function live(reads: readonly (readonly StoredFact[] | Code)[], claims: readonly (object | Code)[] = []) {
  const asked: unknown[] = [];
  const added: StoredFact[] = [];
  const state = { ms: 0, refreshed: 0 };
  const next = <Answer>(answers: (Answer | Code)[]): Answer => {
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
    if (typeof answer === 'string') throw failure(answer as Code);
    return answer;
  };
  const [left, leases] = [[...reads], [...claims]];
  const store = {
    async readFacts(...given: unknown[]) {
      asked.push(given);
      return next(left);
    },
    async claim(request: object) {
      asked.push(request);
      return [next(leases)];
    },
  };
  const clock = {
    monotonic: () => state.ms,
    random: () => 0.5,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (!signal) state.ms += Math.max(ms, 1);
      else await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const task = {
    ...{ scope: 's', taskId: 't', version: 3, dependencies: { store, clock } },
    commitIdAt: (version: number) => `known at ${version}`,
    add: (more: readonly StoredFact[]) => void added.push(...more),
    tryRefresh: async () => void state.refreshed++,
  };
  return { live: task as unknown as LiveTask, asked, added, state };
}

describe('a commit that failed', () => {
  const after = (code: Code, task: LiveTask, more: Partial<Commit> = {}, deadline = 1_000) =>
    outcomeAfter(failure(code), task, commit(more), deadline);

  it.each<Code>(['UNUSABLE', 'QUEUE_FULL', 'LOG_GAP'])('with %s was refused for good', async (code) => {
    const { live: task, asked } = live([[]]);
    await expect(after(code, task)).rejects.toMatchObject({ code });
    expect(asked).toEqual([]);
  });

  it.each<Code>(['UNAVAILABLE', 'VERSION_CONFLICT', 'LOG_CLOSED', 'FENCED'])(
    'with %s happened if it is in the log',
    async (code) => {
      const { live: task, asked, added } = live([facts('own', 'own')]);
      expect(await after(code, task)).toEqual({ version: 5, lease: undefined });
      expect(asked).toEqual([['s', 't', 3, 256, 'known at 3']]);
      expect(added).toEqual([]);
    },
  );

  it.each<Code>(['UNAVAILABLE', 'VERSION_CONFLICT'])('with %s was overtaken by another one', async (code) => {
    const { live: task, added } = live([facts('other')]);
    expect(await after(code, task)).toBe('overtaken');
    expect(added).toEqual(facts('other'));
  });

  it.each<Code>(['LOG_CLOSED', 'FENCED'])('with %s fails if another one is in its place', async (code) => {
    const { live: task, added } = live([facts('other')]);
    await expect(after(code, task)).rejects.toMatchObject({ code });
    expect(added).toEqual(facts('other'));
  });

  it.each<[code: Code, outcome: object]>([
    ['UNAVAILABLE', { is: 'unknown' }],
    ['VERSION_CONFLICT', { code: 'FENCED', message: 'The store lost facts of task t' }],
    ['LOG_CLOSED', { code: 'LOG_CLOSED' }],
    ['FENCED', { code: 'FENCED', message: 'FENCED' }],
  ])('with %s, and nothing in its place: %j', async (code, outcome) => {
    const { live: task } = live([[]]);
    const found = await after(code, task).then(
      (is) => ({ is }),
      (error: StoreError) => ({ code: error.code, message: error.message }),
    );
    expect(found).toMatchObject(outcome);
  });

  it('that only releases a task happened, if its repetition is fenced off', async () => {
    expect(await after('FENCED', live([[]]).live, { facts: [] })).toEqual({ version: 3 });
    expect(await after('UNAVAILABLE', live([[]]).live, { facts: [] })).toBe('unknown');
    expect(await after('VERSION_CONFLICT', live([facts('own')]).live, { facts: [] })).toBe('overtaken');
  });

  it('is unknown while the store cannot be read, until the deadline', async () => {
    expect(await after('UNAVAILABLE', live(['UNAVAILABLE']).live)).toBe('unknown');
    const late = live([facts('own')]);
    expect(await after('UNAVAILABLE', late.live, {}, 0)).toBe('unknown');
    expect(late.asked).toEqual([]);
    // Other failures show that the store answers.
    expect(await after('VERSION_CONFLICT', live([facts('own')]).live, {}, 0)).toMatchObject({ version: 5 });
  });

  it('fails if the store lost facts that it was decided on', async () => {
    const { live: task, state } = live(['LOG_DIVERGED']);
    await expect(after('UNAVAILABLE', task)).rejects.toMatchObject({ code: 'LOG_DIVERGED' });
    expect(state.refreshed).toBe(1);
  });

  it('names the last commit only if it is known', async () => {
    const { live: task, asked } = live([facts('own')]);
    await after('UNAVAILABLE', task, { expectedVersion: 2 });
    expect(asked).toEqual([['s', 't', 2, 256, undefined]]);
  });

  const turn = { queue: 'q', acquire: { holder: 'h', ttlMs: 500 } };
  const lease = (cause: string) => ({ fence: 7, cause }) as unknown as Lease;

  it('gets the lease again that it acquired, from a store that is back in time', async () => {
    const held = live([facts('own')], ['UNAVAILABLE', lease('held')]);
    expect(await after('UNAVAILABLE', held.live, { turn })).toEqual({ version: 5, lease: lease('held') });
    const task = { scope: 's', taskId: 't' };
    expect(held.asked.at(-1)).toEqual({ queue: 'q', holder: 'h', ttlMs: 500, limit: 1, task });
    for (const claims of [[lease('expired')], ['UNAVAILABLE'], ['UNUSABLE']] as const)
      expect(await after('UNAVAILABLE', live([facts('own')], claims).live, { turn })).toEqual({
        version: 5,
        lease: undefined,
      });
  });
});

describe('a commit that was in the log already', () => {
  it('is the same one, or another one with the same message', async () => {
    const { live: task, asked } = live([facts('own'), facts('other'), []]);
    expect(await outcomeOfRepeated(task, commit(), { version: 4 })).toEqual({ version: 5, lease: undefined });
    expect(await outcomeOfRepeated(task, commit(), { version: 4 })).toBe('repeated');
    expect(await outcomeOfRepeated(task, commit(), { version: 4 })).toBe('repeated');
    expect(asked[0]).toEqual(['s', 't', 3, 1]);
  });
});

describe('the commit of a fact', () => {
  const read = (answer: readonly StoredFact[] | Code) => {
    const { live: task, asked } = live([answer]);
    return { found: commitIdAt(task.dependencies.store, 's', 't', 4), asked };
  };

  it('is read from the store, and unknown if the fact is not there any more', async () => {
    const { found, asked } = read(facts('own'));
    expect([await found, asked]).toEqual(['own', [['s', 't', 3, 1]]]);
    expect(await read([]).found).toBeUndefined();
    expect(await read('LOG_GAP').found).toBeUndefined();
    await expect(read('UNAVAILABLE').found).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
