import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open-database.ts';
import { sqliteStore } from '../../src/index.ts';
import { migrations } from '../../src/sql/schema.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, complete, create } from '../logs.ts';

const versionOf = (db: DatabaseSync) =>
  Number(Object.values(db.prepare('PRAGMA user_version').get() ?? {})[0]);

/** A file as the release with the first schema left it, with one finished task. */
async function oldFile(): Promise<DatabaseSync> {
  const path = freshPath();
  const store = sqliteStore(path);
  await create(store, 't');
  await store.commit(commitOf('t', 1, [chunk(1)]));
  await complete(store, 't', 2);
  await store.close();
  const db = new DatabaseSync(path);
  onTestFinished(() => db.close());
  return db;
}

const next = [
  'ALTER TABLE tasks ADD COLUMN colour TEXT; UPDATE tasks SET colour = state',
  'CREATE INDEX tasks_by_colour ON tasks (colour)',
];

describe('migrations', () => {
  it('start with an empty file', () => {
    const db = new DatabaseSync(':memory:');
    migrate(db, 'file', [...migrations, ...next]);
    expect(versionOf(db)).toBe(migrations.length + 2);
    expect(db.prepare('SELECT colour FROM tasks').all()).toEqual([]);
  });

  it('make the tables that the README describes', () => {
    const db = new DatabaseSync(':memory:');
    migrate(db, 'file');
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .all();
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const rows = Array.from(readme.matchAll(/^\| (`\w+`(?:, `\w+`)*) /gm), ([, names = '']) => names);
    const described = rows.flatMap((names) => names.split(', ')).map((name) => name.replaceAll('`', ''));
    expect(described.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });

  it('bring an older file forward and keep its contents', async () => {
    const db = await oldFile();
    const facts = db.prepare('SELECT * FROM facts').all();
    migrate(db, 'file', [...migrations, ...next]);
    expect(versionOf(db)).toBe(migrations.length + 2);
    expect(db.prepare('SELECT task_id, colour FROM tasks').all()).toEqual([
      { task_id: 't', colour: 'TASK_STATE_COMPLETED' },
    ]);
    expect(db.prepare('SELECT * FROM facts').all()).toEqual(facts);
  });

  it('are done once', async () => {
    const db = await oldFile();
    migrate(db, 'file', [...migrations, ...next.slice(0, 1)]);
    migrate(db, 'file', [...migrations, ...next]);
    migrate(db, 'file', [...migrations, ...next]);
    expect(versionOf(db)).toBe(migrations.length + 2);
  });

  it('are done all or not at all', async () => {
    const db = await oldFile();
    const before = db.prepare('SELECT * FROM sqlite_schema').all();
    expect(() => migrate(db, 'file', [...migrations, ...next, 'CREATE TABLE nonsense ('])).toThrow(
      /incomplete input/,
    );
    expect(db.isTransaction).toBe(false);
    expect(versionOf(db)).toBe(migrations.length);
    expect(db.prepare('SELECT * FROM sqlite_schema').all()).toEqual(before);
    expect(db.prepare('SELECT count(*) AS facts FROM facts').get()).toEqual({ facts: 3 });
  });

  it('are seen by other processes all or not at all', async () => {
    const path = freshPath();
    const writer = openDatabase(path, 'normal');
    const reader = openDatabase(path, 'normal');
    onTestFinished(() => writer.close());
    onTestFinished(() => reader.close());
    const seen: number[] = [];
    writer.function('note_version', () => seen.push(versionOf(reader)));
    migrate(writer, 'file', [...migrations, next[0]!, 'SELECT note_version()', next[1]!]);
    expect(seen).toEqual([migrations.length]);
    expect(versionOf(reader)).toBe(migrations.length + 3);
  });
});
