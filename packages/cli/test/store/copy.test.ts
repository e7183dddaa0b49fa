import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { node } from '../../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';
import { etcdForTests } from '../../../../test/support/etcd.ts';
import { postgresForTests } from '../../../../test/support/postgres.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { copyStore } from '../../src/deployment/store/copy-store.ts';
import { transferOf } from '../../src/deployment/store/read-store.ts';
import { cli } from '../cli.ts';
import { contentOf, fill, type Store } from './filled-store.ts';

const [redis, postgres, etcd] = await Promise.all([redisForTests(), postgresForTests(), etcdForTests()]);
const worker = join(import.meta.dirname, 'work-until-refused.ts');
const main = await builtProgram(pathToFileURL(join(import.meta.dirname, '../../src/main.ts')));
const name = () => `copied${randomUUID().slice(0, 8)}`;
const newFile = () => join(temporaryFolder(), 'tasks.db');
const opened = (store: Store) => {
  onTestFinished(() => store.close());
  return store;
};

/** An empty store of each kind that is here. */
const targets = Object.entries({
  sqlite: () => sqliteStore(newFile()),
  redis: redis && (() => redisStore({ url: redis.url, prefix: name(), shards: 2 })),
  postgres: postgres && (() => postgresStore(postgres.url, { schema: name() })),
  etcd: etcd && (() => etcdStore(etcd.urls, { prefix: name() })),
}).flatMap(([kind, open]) => (open ? [{ kind, open }] : []));

/** A program in a process of its own, and the lines that it has written. */
function start(...args: readonly string[]) {
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)));
  return { child, lines, ended: once(child, 'close') };
}

describe('store copy', () => {
  // Two processes write as long as the copy lasts: it takes longest where both have least of a loaded machine.
  it.each(targets)(
    'copies a store into $kind while processes work on it, and back',
    {
      timeout: 600_000,
    },
    async ({ open }) => {
      const file = newFile();
      const source = opened(sqliteStore(file));
      await fill(source);
      const working = [
        start('--conditions=@batonjs/source', worker, file),
        start('--conditions=@batonjs/source', worker, file),
      ];
      await eventually(() => expect(working.every(({ lines }) => lines.length > 20)).toBe(true));
      const target = opened(open());
      const { refusedMs } = await copyStore(source, target, { stopMs: 30_000 });
      expect(refusedMs).toBeLessThan(30_000);
      await eventually(() =>
        expect(working.every(({ lines }) => lines.at(-1) === 'refused UNAVAILABLE')).toBe(true),
      );
      for (const { child, ended } of working) {
        child.kill('SIGKILL');
        await ended;
      }
      const content = await contentOf(target);
      expect(await contentOf(source)).toEqual(content);
      const answered = working.flatMap(({ lines }) => lines.filter((line) => !line.startsWith('refused')));
      expect(answered.filter((id) => !content[id])).toEqual([]);
      const back = opened(sqliteStore(newFile()));
      await copyStore(target, back, { stopMs: 30_000 });
      expect(await contentOf(back)).toEqual(content);
      // Nothing is written to a store that was left, until that is asked for.
      await expect(target.putRecord('a', 0, 1)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await cli(`store unfreeze --store ${file}`);
      expect(await source.putRecord('a', 0, 1)).toBeGreaterThan(0);
    },
  );

  it.each(targets)('copies a store of $kind into each other one', async ({ open }) => {
    const source = opened(open());
    await fill(source);
    const content = await contentOf(source);
    for (const to of targets) {
      const target = opened(to.open());
      await copyStore(source, target, { stopMs: 30_000 });
      expect(await contentOf(target), to.kind).toEqual(content);
    }
  });

  it('goes on where a copy was killed while writes are refused', async () => {
    const [file, copied] = [newFile(), newFile()];
    const source = opened(sqliteStore(file));
    await fill(source);
    const copy = ['store', 'copy', '--from', file, '--to', copied];
    const target = opened(sqliteStore(copied));
    await target.ping();
    const first = start(main, ...copy);
    await eventually(() => expect(first.lines.some((line) => line.startsWith('A pass'))).toBe(true));
    // It waits for the other store when it is about to end.
    const lock = new DatabaseSync(copied);
    lock.exec('BEGIN IMMEDIATE');
    await eventually(() => expect(source.probe?.()).rejects.toMatchObject({ code: 'UNAVAILABLE' }));
    first.child.kill('SIGKILL');
    expect(await first.ended).toEqual([null, 'SIGKILL']);
    lock.close();
    const again = await cli(copy);
    expect(again, again.stderr).toMatchObject({ code: 0 });
    expect(await contentOf(target)).toEqual(await contentOf(source));
    const refused = await cli(copy);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('is not empty') });
  });

  it.each<[string, number, (ms: number) => unknown, string]>([
    ['takes too long to refuse writes', 1_000, () => setTimeout(1_001), 'took too long'],
    [
      'cannot refuse them forever',
      30_000,
      (ms) => ms < 1e9 || Promise.reject(new Error('Not now')),
      'Not now',
    ],
  ])(
    'goes on with other tasks where the store %s, which takes writes then',
    async (_, stopMs, delay, why) => {
      const [source, target] = [opened(sqliteStore(newFile())), opened(sqliteStore(newFile()))];
      await fill(source);
      const transfer = transferOf(source);
      const freeze = async (ms: number) => {
        if (ms > 0) await delay(ms);
        await transfer.freeze?.(ms);
      };
      const failing = { ...source, transfer: { ...transfer, freeze } };
      await expect(copyStore(failing, target, { stopMs })).rejects.toThrow(why);
      // One task goes, others have a shorter log of other commits, or one as long.
      const [gone, ...replaced] = (await transfer.tasks(undefined, 3)).rows;
      await transfer.remove(gone!);
      for (const [n, name] of replaced.entries()) {
        const task = (await transfer.read(name))!;
        const facts = await transfer.facts(name, 0, n === 0 ? 1 : 1_000);
        await transfer.remove(name);
        await transfer.append(
          name,
          facts.map((fact) => ({ ...fact, commitId: `other ${fact.commitId}` })),
        );
        await transfer.put({
          ...task,
          row: { ...task.row, version: facts.length, fence: task.row.fence + 1 },
        });
      }
      await copyStore(source, target, { stopMs: 30_000 });
      expect(await contentOf(target)).toEqual(await contentOf(source));
    },
  );
});
