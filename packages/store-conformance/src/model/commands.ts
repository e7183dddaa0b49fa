import assert from 'node:assert/strict';
import type { Fact } from '@batonjs/lifecycle';
import type { Commit, Committed, Lease, StoreError, TaskStore } from '@batonjs/store';
import fc from 'fast-check';
import type { Fixture } from '../fixture/check.ts';
import { same } from '../fixture/expectations.ts';
import { at, cancelRequested, chunk, completed, created, received, working } from '../samples/facts.ts';
import { freshCommitId, headAfter, snapshotAt } from '../samples/log.ts';
import { Model, type ModelLog } from './model.ts';

const task = fc.nat(2);
const once = fc.option(fc.nat(3), { nil: undefined, freq: 3 });
const fact = fc.oneof(
  fc.nat(99).map((n) => chunk(n)),
  fc.nat(9).map((ms) => working(at(ms))),
  fc.constant(cancelRequested()),
  { weight: 1, arbitrary: fc.nat(9).map((ms) => completed(at(ms))) },
);

/** One thing to do to a store. Numbers choose among the few tasks, keys and holders there are. */
export type Command =
  | {
      type: 'commit';
      task: number;
      once: number | undefined;
      facts: Fact[];
      behind: number;
      writer: 'none' | 'holder' | 'stale' | 'stranger';
      turn: 'none' | 'want' | 'acquire' | 'release' | 'release and want';
      snapshot: boolean;
    }
  | { type: 'append'; task: number; once: number; fact: Fact; want: boolean }
  | { type: 'claim'; holder: number; limit: number; task: number | undefined }
  | { type: 'renew'; newest: boolean }
  | { type: 'wait'; ms: number };

export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('commit' as const),
      task,
      once,
      facts: fc.array(fact, { maxLength: 3 }),
      behind: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.constantFrom(-1, 1)),
      writer: fc.constantFrom('none', 'none', 'holder', 'holder', 'stale', 'stranger'),
      turn: fc.constantFrom('none', 'want', 'acquire', 'acquire', 'release', 'release and want'),
      snapshot: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('append' as const),
      task,
      once: fc.nat(3),
      fact,
      want: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('claim' as const),
      holder: fc.nat(2),
      limit: fc.integer({ min: 1, max: 4 }),
      task: fc.option(task, { nil: undefined, freq: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('renew' as const), newest: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat(150) }) },
);

/** Does one command after another to the store and to the model, and fails where they differ. */
export async function compare(fixture: Fixture, run: string, commands: readonly Command[]): Promise<void> {
  const { second, now, advance } = fixture;
  const model = new Model();
  // Without `advance`, no lease runs out during a run.
  const ttlMs = advance ? 100 : 3_600_000;
  const leases: Lease[] = [];
  for (const [n, one] of commands.entries()) {
    const store: TaskStore = n % 2 ? second : fixture.store;
    if (one.type === 'wait') await advance?.(one.ms);
    else if (one.type === 'renew') {
      const asked = one.newest ? leases.slice(-3) : leases;
      const kept = await store.renew(asked, ttlMs);
      same(
        kept,
        asked.filter((lease) => model.renew(lease, now() + ttlMs)),
        'renew',
      );
    } else if (one.type === 'claim') {
      const task = one.task === undefined ? undefined : { scope: run, taskId: `t${one.task}` };
      const request = { queue: run, holder: `h${one.holder}`, ttlMs, limit: one.limit, task };
      const given = await store.claim(request);
      const at = now();
      mustBeOffered(given, model.offers(request, at), request);
      for (const lease of given) model.claim(lease, request, at);
      leases.push(...given);
    } else {
      const commit = toCommit(one, model.log(run, `t${one.task}`), ttlMs);
      const outcome = await outcomeOf(async () => store.commit(commit));
      const expected = model.commit(commit, now());
      same(outcome, expected, 'commit');
      if (typeof expected !== 'string' && expected.lease) leases.push(expected.lease);
    }
    await mustAgree(n % 3 ? store : fixture.store, model, run);
  }
}

function toCommit(
  one: Extract<Command, { type: 'commit' | 'append' }>,
  log: ModelLog,
  ttlMs: number,
): Commit {
  const { scope, taskId, row } = log;
  const version = log.facts.length;
  const key = one.once === undefined ? undefined : `key ${one.once}`;
  const common = { scope, taskId, commitId: freshCommitId(), once: key };
  if (one.type === 'append') {
    const turn = one.want ? { queue: scope, want: true } : undefined;
    return { ...common, expectedVersion: 'open', facts: [one.fact], turn };
  }
  const { behind, turn, writer, snapshot } = one;
  const facts = version === 0 ? [received('m', taskId), created(taskId, taskId), ...one.facts] : one.facts;
  const expectedVersion = Math.max(0, version - behind);
  const head = headAfter(undefined, [...log.facts.map(({ fact }) => fact), ...facts]);
  const { fence = 0, holder = 'h0' } = row ?? {};
  return {
    ...common,
    expectedVersion,
    facts,
    ...(facts.length > 0 && { head: { ...head, version: expectedVersion + facts.length } }),
    ...(snapshot &&
      facts.length > 0 && { snapshot: snapshotAt(Math.max(2, expectedVersion + facts.length)) }),
    ...(writer !== 'none' && {
      writer: {
        fence: writer === 'stale' ? fence - 1 : fence,
        holder: writer === 'stranger' ? 'stranger' : holder,
      },
    }),
    ...(turn !== 'none' && {
      turn: {
        queue: scope,
        want: turn.endsWith('want') || undefined,
        release: turn.startsWith('release') || undefined,
        acquire: turn === 'acquire' ? { holder: `h${version % 3}`, ttlMs } : undefined,
      },
    }),
  };
}

function mustBeOffered(
  given: readonly Lease[],
  offers: readonly Lease[],
  { limit }: Parameters<TaskStore['claim']>[0],
): void {
  const keys = offers.map((offer) => JSON.stringify(offer));
  const taken = given.map(({ scope, taskId, queue, holder, fence, cause }) =>
    JSON.stringify({ scope, taskId, queue, holder, fence, cause }),
  );
  assert.equal(new Set(taken).size, taken.length, 'claim gave a lease twice');
  for (const lease of taken)
    assert.ok(keys.includes(lease), `claim gave ${lease}, but could only give ${keys}`);
  assert.equal(taken.length, Math.min(limit, offers.length), `claim had ${keys} to give`);
  const held = (leases: readonly Lease[]) => leases.filter(({ cause }) => cause === 'held').length;
  assert.equal(held(given), Math.min(limit, held(offers)), 'claim gave others before those that are held');
}

async function mustAgree(store: TaskStore, model: Model, run: string): Promise<void> {
  for (const { scope, taskId, row, facts, snapshot } of model.logs) {
    const kept = row && {
      head: row.head,
      version: row.version,
      snapshot,
      facts: facts.slice(snapshot?.version),
    };
    same(await store.load(scope, taskId), kept, 'load');
    const after = facts.length >> 1;
    same(await store.readFacts(scope, taskId, after, 2), facts.slice(after, after + 2), 'readFacts');
  }
  assert.equal(await store.waiting(run), model.waiting(run), 'waiting');
  const query = { limit: 2 };
  same(await store.list(run, query), model.list(run, query), 'list');
}

/** What a commit resolves to, or the code that it rejects with. */
const outcomeOf = (commit: () => Promise<Committed>): Promise<Committed | StoreError['code']> =>
  commit().catch((error) => error.code ?? error);
