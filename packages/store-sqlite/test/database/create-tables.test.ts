import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createTables } from '../../src/database/open-database.ts';

const open = (): DatabaseSync => {
  const db = new DatabaseSync(':memory:');
  onTestFinished(() => db.close());
  return db;
};
const objects = (db: DatabaseSync) => db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();

describe('the tables of a file', () => {
  it('are those that the README describes', () => {
    const db = open();
    createTables(db, 'file');
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
      .all();
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const rows = Array.from(readme.matchAll(/^\| (`\w+`(?:, `\w+`)*) /gm), ([, names = '']) => names);
    const described = rows.flatMap((names) => names.split(', ')).map((name) => name.replaceAll('`', ''));
    expect(described.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });

  it('are made once, all or none', () => {
    const db = open();
    createTables(db, 'file');
    const before = objects(db);
    createTables(db, 'file');
    expect(objects(db)).toEqual(before);
    const other = open();
    other.exec('CREATE TABLE notes (text TEXT)');
    expect(() => createTables(other, 'file')).toThrow('another program');
    expect([other.isTransaction, objects(other).length]).toEqual([false, 1]);
  });
});
