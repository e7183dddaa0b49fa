import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reportMissing } from '../../../../test/support/missing.ts';
import { type Durability, openDatabase } from '../../src/database/open-database.ts';
import { sqliteStore } from '../../src/index.ts';
import { applicationId, layouts } from '../../src/sql/schema.ts';
import { freshPath } from '../folder.ts';
import { create } from '../logs.ts';
import { otherProcess } from '../other-process.ts';
import { folderForEveryone } from './reachable-folder.ts';

const opening = (path: string) => () => void sqliteStore(path).close();
const unusable = (why: RegExp) =>
  expect.objectContaining({ code: 'UNUSABLE', message: expect.stringMatching(why) });
const pragma = (db: DatabaseSync, name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];

function writeDatabase(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

describe('a new file', () => {
  it('is created, with its folders', async () => {
    const path = join(freshPath(), 'a', 'b', 'tasks.db');
    const store = sqliteStore(path);
    await create(store, 't');
    await store.close();
    expect(existsSync(path)).toBe(true);
  });

  it.each<[Durability, number]>([
    ['full', 2],
    ['normal', 1],
  ])('is written with durability %s as SQLite understands it', (durability, synchronous) => {
    const db = openDatabase(freshPath(), durability);
    onTestFinished(() => db.close());
    expect(pragma(db, 'synchronous')).toBe(synchronous);
    expect(pragma(db, 'journal_mode')).toBe('wal');
    expect(pragma(db, 'busy_timeout')).toBeLessThanOrEqual(20);
  });

  it('says whose it is and which schema it has', () => {
    const db = openDatabase(freshPath(), 'full');
    onTestFinished(() => db.close());
    expect(pragma(db, 'application_id')).toBe(applicationId);
    expect(pragma(db, 'user_version')).toBe(layouts.current);
  });

  it('can be opened by several processes at the same moment', async () => {
    const path = freshPath();
    const others = Array.from({ length: 3 }, otherProcess);
    onTestFinished(() => {
      for (const { child } of others) child.kill();
    });
    const stores = await Promise.all(others.map((other) => other.open(path)));
    await Promise.all(stores.map((store, n) => create(store, `t${n}`)));
    expect((await stores[0]!.list('s', { limit: 9 })).total).toBe(3);
    for (const store of stores) await store.close();
  });
});

describe('a file is refused', () => {
  it('that is no database', () => {
    const path = freshPath();
    writeFileSync(path, 'This is a letter, not a database. '.repeat(100));
    expect(opening(path)).toThrow(unusable(/is not a SQLite database/));
    expect(readFileSync(path, 'utf8')).toMatch(/^This is a letter/);
  });

  it('that another program wrote', () => {
    const path = freshPath();
    writeDatabase(path, 'CREATE TABLE tasks (id INTEGER); INSERT INTO tasks VALUES (1)');
    expect(opening(path)).toThrow(unusable(/database of another program/));
  });

  it('that another program wrote and numbered as we do', () => {
    const path = freshPath();
    writeDatabase(path, `CREATE TABLE tasks (id INTEGER); PRAGMA user_version = ${layouts.current}`);
    expect(opening(path)).toThrow(unusable(/database of another program/));
  });

  it('that another release wrote, and is left as it was', async () => {
    const path = freshPath();
    await sqliteStore(path).close();
    writeDatabase(path, 'PRAGMA user_version = 1000');
    const before = readFileSync(path);
    const versions = new RegExp(
      `another release.*number 1000.*reads ${layouts.current} only. Use a new file`,
    );
    expect(opening(path)).toThrow(unusable(versions));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('whose first page is damaged', async () => {
    const path = freshPath();
    await sqliteStore(path).close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, 100, 4_000));
    expect(opening(path)).toThrow(unusable(/is damaged/));
  });

  it('that is a folder', () => {
    const path = freshPath();
    mkdirSync(path);
    expect(opening(path)).toThrow(unusable(/cannot be opened/));
  });

  it('whose folder is a file', () => {
    const path = freshPath();
    writeFileSync(path, '');
    expect(opening(join(path, 'tasks.db'))).toThrow(unusable(/folder .* cannot be created/));
  });

  // Root is allowed everything: it opens the file as another user, who has to get there.
  const user = process.getuid?.() === 0 ? ['65534'] : [];
  const folder = user.length > 0 ? folderForEveryone() : tmpdir();
  if (!folder) reportMissing('No folder here that every user can reach, such as /tmp with mode 1777.');

  it.skipIf(!folder).each([
    ['file', (path: string) => chmodSync(path, 0o444)],
    ['folder', (path: string) => chmodSync(dirname(path), 0o555)],
  ])('when its %s is read-only', async (_, protect) => {
    const path = freshPath('tasks.db', folder);
    await sqliteStore(path).close();
    chmodSync(dirname(path), 0o777);
    chmodSync(path, 0o666);
    expect(openOnce(path)).toEqual({ code: 'OPENED' });
    protect(path);
    const outcome = openOnce(path);
    chmodSync(dirname(path), 0o777);
    expect(outcome).toEqual({
      code: 'UNUSABLE',
      message: expect.stringMatching(/read-only|cannot be opened/),
    });
  });

  function openOnce(path: string): unknown {
    const script = fileURLToPath(new URL('./open-once.ts', import.meta.url));
    const flags = ['--conditions=@batonjs/source', '--disable-warning=ExperimentalWarning'];
    const { stdout, stderr } = spawnSync(process.execPath, [...flags, script, path, ...user], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }
});

describe('a file that is damaged later', () => {
  it('makes those calls fail that meet the damage, and says so', async () => {
    const path = freshPath();
    const store = sqliteStore(path, { durability: 'normal' });
    for (let n = 0; n < 50; n++) await create(store, `t${n}`);
    await store.close();
    const db = new DatabaseSync(path);
    const ofSchema = db.prepare(`SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'`).all();
    db.close();
    const bytes = readFileSync(path);
    const kept = new Set(ofSchema.map(({ pageno }) => Number(pageno)));
    for (let page = 1; page <= bytes.length / 4096; page++)
      if (!kept.has(page)) bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
    writeFileSync(path, bytes);
    const again = sqliteStore(path);
    const damaged = expect.objectContaining({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/is damaged/),
    });
    await expect(again.load('s', 't1')).rejects.toEqual(damaged);
    await expect(create(again, 'new')).rejects.toEqual(damaged);
    await expect(again.list('s', { limit: 1 })).rejects.toEqual(damaged);
    await again.close();
  });
});
