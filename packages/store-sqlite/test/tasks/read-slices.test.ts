import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sqliteStore } from '../../src/index.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, complete, create } from '../logs.ts';

const length = 60_000;

const manyChunks = (length: number) => Array.from({ length }, (_, n) => chunk(n + 1));

async function longLog() {
  const path = freshPath();
  const store = sqliteStore(path, { durability: 'normal' });
  const second = sqliteStore(path, { durability: 'normal' });
  onTestFinished(() => store.close());
  onTestFinished(() => second.close());
  await create(store, 't');
  await store.commit(commitOf('t', 1, manyChunks(length - 1)));
  return { store, second };
}

describe('reading a long log', () => {
  it('lets other things happen in between', async () => {
    const { store } = await longLog();
    let turns = 0;
    const turning = setInterval(() => turns++, 0);
    const log = (await store.load('s', 't'))!;
    clearInterval(turning);
    expect(turns).toBeGreaterThan(1);
    expect(log.facts.map(({ version }) => version)).toEqual(Array.from({ length }, (_, n) => n + 1));
    expect((await store.readFacts('s', 't', 5, 50_000)).map(({ version }) => version)).toEqual(
      Array.from({ length: 50_000 }, (_, n) => n + 6),
    );
  });

  it('lets other things happen in between where the clock stands still meanwhile, as in a Worker', async () => {
    const store = sqliteStore(freshPath(), { durability: 'normal' });
    onTestFinished(() => store.close());
    await create(store, 't');
    const parts = [{ text: 'x'.repeat(600_000) }];
    const long = Array.from({ length: 6 }, () => ({ ...chunk(2), artifact: { artifactId: 'a', parts } }));
    await store.commit(commitOf('t', 1, long));
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    let rounds = 0;
    const round = () => {
      rounds++;
      next = setImmediate(round);
    };
    let next = setImmediate(round);
    expect((await store.load('s', 't'))?.facts.length).toBe(7);
    clearImmediate(next);
    expect(rounds).toBeGreaterThan(1);
  });

  it('gives the log of one moment, whatever is appended meanwhile', async () => {
    const { store, second } = await longLog();
    const loading = store.load('s', 't');
    await second.commit(commitOf('t', length, [chunk(1)]));
    const { version, head, facts } = (await loading)!;
    expect([version, head.version, facts.length]).toEqual([length, length, length]);
  });

  it('gives nothing rather than a part if it is deleted meanwhile', async () => {
    const { store, second } = await longLog();
    await complete(store, 't', length);
    const [loading, reading] = [store.load('s', 't'), store.readFacts('s', 't', 0, length)];
    // A log made again under the same id is another one, even in the very next moment.
    const pruning = second.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit: 9 });
    const again = second.commit(commitOf('t', 0, manyChunks(length)));
    expect([await pruning, (await again).version]).toEqual([1, length]);
    expect(await loading).toBeUndefined();
    const facts = await reading;
    expect(new Set(facts.map(({ commitId }) => commitId)).size).toBe(2);
    expect(facts.length).toBeLessThan(length);
    expect(facts.map(({ version }) => version)).toEqual(facts.map((_, n) => n + 1));
  });
});
