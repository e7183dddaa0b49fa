import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../src/index.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, received } from '../logs.ts';

const opened: ReturnType<typeof sqliteStore>[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function open(path: string) {
  const store = sqliteStore(path, { durability: 'normal' });
  opened.push(store);
  return store;
}

/** A store that holds the task `t`, its file, and a copy of that file. */
async function openWithCopy() {
  const path = freshPath();
  const store = open(path);
  await store.commit(commitOf('t', 0, [received]));
  const copy = `${path}.copy`;
  new DatabaseSync(path).exec(`VACUUM INTO '${copy}'`);
  return { path, copy, store };
}

const remove = (path: string) => {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
};

const ways: Record<string, (path: string, copy: string) => void> = {
  'was deleted': (path) => remove(path),
  'was deleted without its write-ahead log': (path) => rmSync(path),
  'lost its write-ahead log': (path) => rmSync(`${path}-wal`),
  'was moved': (path) => renameSync(path, `${path}.moved`),
  'was deleted and restored from a copy': (path, copy) => {
    remove(path);
    copyFileSync(copy, path);
  },
  'was replaced by a copy that took its name': (path, copy) => renameSync(copy, path),
  'was made again by another process': (path) => {
    remove(path);
    open(path);
  },
};

describe.each(Object.keys(ways))('A file that %s', (way) => {
  it('is UNUSABLE for the first write after that and for every later call', async () => {
    const { path, copy, store } = await openWithCopy();
    ways[way]!(path, copy);
    const unusable = { code: 'UNUSABLE', message: expect.stringContaining(path) };
    const writes = [1, 2, 3].map((n) => store.commit(commitOf(`new ${n}`, 0, [received])));
    for (const write of writes) await expect(write).rejects.toMatchObject(unusable);
    await expect(store.ping()).rejects.toMatchObject(unusable);
    await expect(store.load('s', 't')).rejects.toMatchObject(unusable);
    await expect(store.readFacts('s', 't', 0, 9)).rejects.toMatchObject(unusable);
    await expect(store.claim({ queue: 'q', holder: 'h', ttlMs: 1, limit: 1 })).rejects.toMatchObject(
      unusable,
    );
    await expect(store.waiting('q')).rejects.toMatchObject(unusable);
    await expect(store.identity()).rejects.toMatchObject(unusable);
  });

  it('is noticed by a store that only reads, when it is asked for its identity', async () => {
    const { path, copy, store } = await openWithCopy();
    const before = await store.identity();
    expect(before).toMatch(/^\d+:\d+$/);
    ways[way]!(path, copy);
    await expect(store.identity()).rejects.toMatchObject({ code: 'UNUSABLE' });
    await expect(store.load('s', 't')).rejects.toMatchObject({ code: 'UNUSABLE' });
  });
});

it('A store whose file was replaced leaves the new file and its write-ahead log alone when it is closed', async () => {
  const { path, copy, store } = await openWithCopy();
  await store.commit(commitOf('t', 1, [chunk(1)]));
  remove(path);
  renameSync(copy, path);
  const restored = open(path);
  await restored.commit(commitOf('u', 0, [received]));
  await expect(store.identity()).rejects.toMatchObject({ code: 'UNUSABLE' });
  await store.close();
  expect(existsSync(`${path}-wal`)).toBe(true);
  expect((await restored.load('s', 't'))?.version).toBe(1);
  expect((await restored.load('s', 'u'))?.version).toBe(1);
  await restored.commit(commitOf('u', 1, [chunk(1)]));
  expect(await restored.identity()).toBeTruthy();
});

it('A database in memory has an identity of its own and is never missed', async () => {
  const [one, other] = [open(':memory:'), open(':memory:')];
  expect(await one.identity()).not.toBe(await other.identity());
  await one.commit(commitOf('t', 0, [received]));
  expect(await one.identity()).toBe(await one.identity());
});
