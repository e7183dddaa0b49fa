import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { TaskStore } from '@batonjs/store';
import { expect, it, onTestFinished } from 'vitest';
import { type SqliteStoreOptions, sqliteStore } from '../../src/index.ts';
import { freshPath } from '../folder.ts';
import { complete, create } from '../logs.ts';

function open(path: string, options?: SqliteStoreOptions) {
  const store = sqliteStore(path, options);
  onTestFinished(() => store.close());
  return store;
}

const found = async (store: TaskStore, text: string) => {
  const { tasks } = await store.list('s', { limit: 9, text, answered: true });
  return tasks.map(({ taskId }) => taskId);
};

it('texts are searched from when one process switched that on, by all that open the file after it', async () => {
  const path = freshPath();
  const before = open(path);
  await create(before, 'early', { text: 'refund' });
  const switching = open(path, { textSearch: true });
  await create(switching, 'later', { text: 'refund' });
  const after = open(path);
  await create(after, 'last', { text: 'refunds' });
  expect(await found(after, 'refund')).toEqual(['later', 'last']);
  expect([await before.searchesText?.(), await after.searchesText?.()]).toEqual([false, true]);
  await expect(found(before, 'refund')).rejects.toThrow(
    expect.objectContaining({ code: 'UNUSABLE', message: `${path} does not search the texts of tasks` }),
  );
  // The index is the file's: a process that does not know of it deletes from it, too.
  await complete(before, 'last', 1);
  expect(await before.erase?.('s', 'last')).toMatchObject({ facts: 2 });
  expect(await found(switching, 'refund')).toEqual(['later']);
});

it.each([1, 8, 9, 30])('a beginning that %i words have finds all tasks with one of them', async (count) => {
  const store = open(':memory:', { textSearch: true });
  for (let n = 0; n < count; n += 1) await create(store, `t${n}`, { text: `refund${n} of order${n % 2}` });
  await create(store, 'other', { text: 'reform of order1' });
  const all = Array.from({ length: count }, (_, n) => `t${n}`);
  const { tasks } = await store.list('s', { limit: 99, text: 'refund order', answered: true });
  expect(tasks.map(({ taskId }) => taskId).sort()).toEqual(all.toSorted());
  const odd = await store.list('s', { limit: 99, text: 'ORDER1 ref', answered: true });
  expect(odd.tasks.map(({ taskId }) => taskId).sort()).toEqual(
    [...all.filter((_, n) => n % 2 === 1), 'other'].sort(),
  );
  expect(await found(store, 'refund0')).toEqual(['t0']);
});

it('no word of an erased task is left in the file', async () => {
  const path = freshPath();
  const store = open(path, { textSearch: true, durability: 'normal' });
  const ids = Array.from({ length: 200 }, (_, n) => `t${n}`);
  await Promise.all(ids.map((id) => create(store, id, { text: `zyxword${id} of abcword${id}` })));
  await Promise.all(ids.map((id) => complete(store, id, 1)));
  const sql = new DatabaseSync(path);
  onTestFinished(() => sql.close());
  const words = () => {
    sql.exec("INSERT INTO task_texts (task_texts) VALUES ('optimize')");
    sql.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    return new Set(readFileSync(path, 'latin1').match(/abcword|zyxword/g));
  };
  expect(words()).toEqual(new Set(['abcword', 'zyxword']));
  await Promise.all(ids.map((id) => store.erase?.('s', id)));
  expect(words()).toEqual(new Set());
});

it('of very many tasks with a text, those that began last are found', async () => {
  const path = freshPath();
  const store = open(path, { textSearch: true });
  await create(store, 'first', { text: 'refund' });
  await create(store, 'second', { text: 'refund' });
  const sql = new DatabaseSync(path);
  onTestFinished(() => sql.close());
  sql.exec('CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, task_texts, row)');
  const mark = sql.prepare("SELECT term FROM temp.terms WHERE term LIKE '=%'").get()?.term;
  const more = (from: number, to: number) =>
    sql.exec(`WITH RECURSIVE n (n) AS (VALUES (${from}) UNION ALL SELECT n + 1 FROM n WHERE n < ${to})
      INSERT INTO task_texts (rowid, words) SELECT n, '${mark} refund' FROM n`);
  more(100, 10_097);
  expect(await found(store, 'refund')).toEqual(['second', 'first']);
  more(10_098, 10_098);
  expect(await found(store, 'refund')).toEqual(['second']);
});
