import assert from 'node:assert/strict';
import type { FileRange, FileStore } from '@batonjs/store/files';
import { describe, it } from 'vitest';

/** A fresh file store, and another handle on the same files, as a second process would have. */
interface Files {
  readonly files: FileStore;
  readonly second: FileStore;
}

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

async function textOf(files: FileStore, key: string, range?: FileRange): Promise<string | undefined> {
  const bytes = await files.get(key, range);
  if (!bytes) return undefined;
  const all: Uint8Array[] = [];
  for await (const chunk of bytes) all.push(chunk.slice());
  return Buffer.concat(all).toString();
}

async function keys(files: FileStore, prefix: string): Promise<string[]> {
  const all: string[] = [];
  for await (const { key } of files.list(prefix)) all.push(key);
  return all.sort();
}

const digits = '0123456789'.repeat(500_000);

const checks: Readonly<Record<string, (files: Files) => Promise<void>>> = {
  async 'gives all bytes of a file, and ranges, also to another handle'({ files, second }) {
    assert.equal(await textOf(files, 'a/b', { start: 0, end: 0 }), undefined);
    await files.put('a/b', chunks('', ...(digits.match(/.{1,65536}/g) ?? [])));
    await files.put('a/empty', chunks());
    const ranges = [
      [0, 1],
      [3, 7],
      [65_530, 65_540],
      [digits.length - 1, digits.length],
      [4, 4],
    ] as const;
    for (const each of [files, second]) {
      assert.equal(await textOf(each, 'a/empty'), '');
      assert.ok((await textOf(each, 'a/b')) === digits);
      for (const [start, end] of ranges)
        assert.equal(await textOf(each, 'a/b', { start, end }), digits.slice(start, end));
    }
  },

  async 'shows nothing of a file whose source fails, and keeps what was there'({ files, second }) {
    const failure = new Error('The source broke');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield* chunks('part');
      assert.equal(await textOf(second, 'new'), undefined);
      throw failure;
    }
    await files.put('old', chunks('whole'));
    for (const key of ['new', 'old']) await assert.rejects(files.put(key, broken()), failure);
    assert.equal(await textOf(second, 'old'), 'whole');
    assert.deepEqual(await keys(files, ''), ['old']);
  },

  async 'deletes, also what is not there'({ files, second }) {
    await files.put('a/b/c', chunks('x'));
    await files.delete('a/b/c');
    await files.delete('a/b/c');
    assert.equal(await textOf(second, 'a/b/c'), undefined);
    assert.deepEqual(await keys(files, ''), []);
    await files.put('a/b', chunks('a file where a folder was'));
  },

  async 'lists by the beginning of keys, with the time'({ files, second }) {
    const all = ['q/1.a/t/x', 'q/1.a/t/y', 'q/1.a/tt/x', 'q/1.ab/t/x', 'r/x'];
    for (const key of all) await files.put(key, chunks(key));
    for (const prefix of ['', 'q/1.a/t/', 'q/1.a', 'none/'])
      assert.deepEqual(
        await keys(second, prefix),
        all.filter((key) => key.startsWith(prefix)),
      );
    for await (const { key, storedAt } of files.list(''))
      assert.ok(Math.abs(Date.now() - storedAt) < 60_000, `${key} was stored at ${storedAt}`);
  },

  async 'takes the same file at once from several, and deletes beside others'({ files, second }) {
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => (n % 2 ? files : second).put('same/key', chunks('the ', 'same'))),
    );
    assert.equal(await textOf(files, 'same/key'), 'the same');
    for (let round = 0; round < 20; round++) {
      await files.put('a/b/one', chunks('1'));
      await Promise.all([files.delete('a/b/one'), second.put('a/b/two', chunks('2'))]);
      assert.equal(await textOf(files, 'a/b/two'), '2');
      await second.delete('a/b/two');
    }
    assert.deepEqual(await keys(second, ''), ['same/key']);
  },

  async 'copies a file that stays when the first is deleted'({ files, second }) {
    if (!files.copy) return;
    await files.put('a/one', chunks('content'));
    assert.equal(await files.copy('a/none', 'b/none'), false);
    for (const _ of ['once', 'again']) assert.equal(await files.copy('a/one', 'b/two'), true);
    await files.delete('a/one');
    assert.equal(await textOf(second, 'b/two'), 'content');
    assert.deepEqual(await keys(second, ''), ['b/two']);
  },

  async 'refuses keys that lead elsewhere'({ files }) {
    for (const key of ['../a', 'a/../../b', '/a', 'a//b', '', '.a', 'a/.', 'a\\b'])
      await assert.rejects(async () => files.put(key, chunks('x')), `The key '${key}' was taken`);
  },
};

/** Runs the tests that a `FileStore` has to pass, each on a fresh one. */
export function describeFileStore(name: string, open: () => Pick<Files, 'files'> & Partial<Files>): void {
  describe(`${name} is a FileStore`, () => {
    for (const [title, check] of Object.entries(checks))
      it(title, () => {
        const opened = open();
        return check({ second: opened.files, ...opened });
      });
  });
}
