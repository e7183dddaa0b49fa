import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { etcdStore } from '@batonjs/store-etcd';
import { memoryStore } from '@batonjs/store-memory';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { etcdForTests } from '../../../../test/support/etcd.ts';
import { postgresForTests } from '../../../../test/support/postgres.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { copyStore } from '../../src/deployment/store/copy-store.ts';
import { exportStore } from '../../src/deployment/store/export-store.ts';
import { checkFile, importStore } from '../../src/deployment/store/import-store.ts';
import { LineWriter } from '../../src/deployment/store/lines.ts';
import { transferOf } from '../../src/deployment/store/read-store.ts';
import { cli } from '../cli.ts';
import { contentOf, fill, type Store, secrets, serveOn } from './filled-store.ts';

const [redis, postgres, etcd] = await Promise.all([redisForTests(), postgresForTests(), etcdForTests()]);
const name = () => `moved${randomUUID().slice(0, 8)}`;

/** An empty store of each kind that is here. */
const kinds: Readonly<Record<string, (() => Store) | false | undefined>> = {
  memory: () => memoryStore(),
  sqlite: () => sqliteStore(join(temporaryFolder(), 'tasks.db'), { textSearch: true }),
  redis: redis && (() => redisStore({ url: redis.url, prefix: name(), shards: 3 })),
  postgres: postgres && (() => postgresStore(postgres.url, { schema: name() })),
  etcd: etcd && (() => etcdStore(etcd.urls, { prefix: name() })),
};
const here = Object.entries(kinds).flatMap(([kind, open]) => (open ? [{ kind, open }] : []));
const opened = (open: () => Store) => {
  const store = open();
  onTestFinished(() => store.close());
  return store;
};
const newFile = () => join(temporaryFolder(), 'tasks.jsonl');

/** A file with all that a store may have, and what it has. */
const filled = (async () => {
  const store = memoryStore();
  const ids = await fill(store);
  const path = join(temporaryFolder(afterAll), 'tasks.jsonl');
  await exportStore(store, path);
  return { path, ids, content: await contentOf(store) };
})();

/** The lines of a file, to write others. */
const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const written = (text: string) => {
  const path = newFile();
  writeFileSync(path, text);
  return path;
};

// Each file that a store writes is the same to every store that reads it: this is each pair of two.
describe.each(here)('a store in $kind', ({ open }) => {
  it('has after an import what the other one had, and writes it into a file again', async () => {
    const { path, content, ids } = await filled;
    const [store, again] = [opened(open), opened(open)];
    await importStore(store, path);
    expect(await contentOf(store)).toEqual(content);
    const file = newFile();
    await exportStore(store, file);
    await importStore(again, file);
    expect(await contentOf(again)).toEqual(content);
    if (await store.searchesText?.())
      expect((await store.list(scope, { limit: 9, text: 'don' })).total).toBe(1);
    // It goes on there: a lease that nobody keeps runs out, a question is answered, and a message counts once.
    const server = closedAfterTest(serveOn(store));
    const message = say('done', { taskId: ids.ask });
    const { task } = await rpc(server, 'SendMessage', { message });
    expect(task).toMatchObject({ id: ids.ask, status: { state: 'TASK_STATE_COMPLETED' } });
    await rpc(server, 'SendMessage', { message });
    expect((await rpc(server, 'GetTask', { id: ids.ask })).history.length).toBe(task.history.length);
  });
});

describe('store export', () => {
  it('writes a file for this user only, names what lies in it, and overwrites none', async () => {
    const file = join(temporaryFolder(), 'tasks.db');
    const store = opened(() => sqliteStore(file));
    await importStore(store, (await filled).path);
    const path = newFile();
    const exported = await cli(`store export --store ${file} ${path}`);
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining('all secrets') });
    expect(exported.stdout).toMatch(/^Tasks: 4\nFacts: \d+\nRecords: \d+\n/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(secrets.filter((secret) => readFileSync(path, 'utf8').includes(secret))).toEqual(secrets);
    expect(await cli(`store export --store ${file} ${path}`)).toMatchObject({ code: 2 });
    const open = newFile();
    await cli(`store export --store ${file} --without-secrets ${open}`);
    expect(secrets.filter((secret) => readFileSync(open, 'utf8').includes(secret))).toEqual([]);
    const other = join(temporaryFolder(), 'other.db');
    expect((await cli(`store import --store ${other} ${open} -o json`)).json).toMatchObject({ tasks: 4 });
    expect((await cli(`store verify --store ${other}`)).code).toBe(0);
    const ofCaller = newFile();
    await cli(`store export --store ${file} --caller nobody ${ofCaller}`);
    expect(linesOf(ofCaller).join('\n')).toContain('{"tasks":0,"facts":0,"records":0}');
  });

  it('goes on with a file that broke off, also in the middle of a line', async () => {
    const { path, content } = await filled;
    const store = opened(() => sqliteStore(':memory:'));
    await importStore(store, path);
    const whole = newFile();
    await exportStore(store, whole);
    const text = readFileSync(whole, 'utf8');
    for (const part of [0.1, 0.5, 0.99]) {
      const broken = written(text.slice(0, text.length * part));
      await exportStore(store, broken, { resume: true });
      const again = opened(() => memoryStore());
      await importStore(again, broken);
      expect(await contentOf(again)).toEqual(content);
    }
    await expect(exportStore(store, whole, { resume: true })).rejects.toThrow('is complete');
  });
});

describe('store import', () => {
  const last = (lines: string[]) => lines.slice(0, -1);
  it.each<[string, (lines: string[]) => string[], RegExp]>([
    ['is damaged', (lines) => lines.with(2, lines[2]!.replace('message', 'massage')), /^Line 3 is damaged/],
    ['is no JSON', (lines) => lines.with(1, '{'), /^Line 2 is damaged/],
    ['is missing', (lines) => lines.toSpliced(3, 1), /^Line 4 is damaged, or a line before it is missing/],
    ['is there twice', (lines) => lines.toSpliced(3, 0, lines[2]!), /^Line 4 is damaged/],
    ['is the last one', last, /^Line \d+ is missing: the file ends too early/],
    ['is cut', (lines) => lines.with(-1, lines.at(-1)!.slice(0, 60)), /^Line \d+ is damaged/],
    ['follows the end', (lines) => [...lines, lines[0]!], /^Line \d+ is damaged/],
    [
      'is of another format',
      () => [new LineWriter().text({ store: { format: 2, from: '', at: '' } })],
      /^Line 1 .* format 2/,
    ],
    ['is not the first', () => [new LineWriter().text({ page: null })], /^Line 1 is not the one/],
    ['is too long', (lines) => [lines[0]!, 'x'.repeat(65 * 1024 * 1024)], /^Line 2 is longer than/],
    ['is not there', () => [], /^Line 1 is missing/],
  ])('refuses a file of which a line %s, and writes nothing', async (_, change, message) => {
    const lines = change(linesOf((await filled).path));
    const path = written(lines.length === 0 ? '' : `${lines.join('\n')}\n`);
    const store = join(temporaryFolder(), 'new.db');
    const { code, stderr } = await cli(`store import --store ${store} ${path}`);
    expect([code, stderr.replace(/^\w+: /, '')]).toEqual([2, expect.stringMatching(message)]);
    expect(existsSync(store)).toBe(false);
  });

  it('refuses a store that is not empty, and says how to go on', async () => {
    const file = join(temporaryFolder(), 'tasks.db');
    const { path } = await filled;
    expect(await cli(`store import --store ${file} ${path}`)).toMatchObject({ code: 0 });
    const refused = await cli(`store import --store ${file} ${path}`);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') });
  });
});

it('an import ends with the error of a task that could not be written', async () => {
  const store = opened(() => memoryStore());
  const put = () => Promise.reject(new Error('Not written'));
  const failing = { ...store, transfer: { ...transferOf(store), put } };
  await expect(importStore(failing, (await filled).path)).rejects.toThrow('Not written');
});

describe('a store from which a task is deleted while it is moved', () => {
  it('is copied and exported without it', async () => {
    const store = opened(() => memoryStore());
    await importStore(store, (await filled).path);
    const transfer = transferOf(store);
    const { rows } = await transfer.tasks(undefined, 9);
    // What follows the last task is shorter than it.
    for (const { name } of await transfer.records(undefined, 9)) await transfer.putRecord(name);
    const without = (id: string): Store => ({
      ...store,
      transfer: {
        ...transfer,
        async read(name) {
          const task = await transfer.read(name);
          if (name.taskId === id) await transfer.remove(name);
          return task;
        },
      },
    });
    const [copied, imported, file] = [opened(() => memoryStore()), opened(() => memoryStore()), newFile()];
    await copyStore(without(rows[1]!.taskId), copied, { stopMs: 5_000 });
    expect(await contentOf(copied)).toEqual(await contentOf(store));
    const { tasks } = await exportStore(without(rows.at(-1)!.taskId), file);
    expect(await checkFile(file)).toMatchObject({ tasks });
    await importStore(imported, file);
    expect(await contentOf(imported)).toEqual(await contentOf(store));
    expect([rows.length, tasks]).toEqual([4, 2]);
  });
});

describe('store verify', () => {
  it('names what is damaged, and ends with 1', async () => {
    const file = join(temporaryFolder(), 'tasks.db');
    const { path, ids } = await filled;
    await cli(`store import --store ${file} ${path}`);
    expect(await cli(`store verify --store ${file}`)).toMatchObject({ code: 0, stderr: '' });
    const db = new DatabaseSync(file);
    const of = (id: string) => `(SELECT id FROM tasks WHERE task_id = '${id}')`;
    db.exec(`DELETE FROM facts WHERE task = ${of(ids.done)} AND version = 2;
      UPDATE facts SET fact = '{' WHERE task = ${of(ids.ask)} AND version = 3;
      UPDATE tasks SET head = json_set(head, '$.turn', 7) WHERE id = ${of(ids.canceled)};
      UPDATE records SET json = '{' WHERE name = 'of/scope'`);
    db.close();
    const { code, stderr, stdout } = await cli(`store verify --store ${file}`);
    expect([code, /Damaged: (\d)/.exec(stdout)?.[1]]).toEqual([1, '4']);
    for (const named of [ids.done, ids.ask, ids.canceled, 'record of/scope']) expect(stderr).toContain(named);
  });
});
