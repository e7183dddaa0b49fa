import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../src/index.ts';
import { freshPath } from './folder.ts';
import { chunk, commitOf, complete, create } from './logs.ts';

const length = 60_000;

async function longLog() {
  const path = freshPath();
  const store = sqliteStore(path, { durability: 'normal' });
  const second = sqliteStore(path, { durability: 'normal' });
  onTestFinished(() => store.close());
  onTestFinished(() => second.close());
  await create(store, 't');
  const chunks = Array.from({ length: length - 1 }, (_, n) => chunk(n + 1));
  await store.commit(commitOf('t', 1, chunks));
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
    expect(await second.prune({ closedBefore: '2027-01-01T00:00:00.000Z', limit: 9 })).toBe(1);
    await create(second, 't');
    expect(await loading).toBeUndefined();
    const facts = await reading;
    expect(facts.length).toBeLessThan(length);
    expect(facts.map(({ version }) => version)).toEqual(facts.map((_, n) => n + 1));
  });
});
