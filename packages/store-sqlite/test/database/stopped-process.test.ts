import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/database/open-database.ts';
import { lockHolder } from '../../src/database/sqlite-error.ts';
import { sqliteStore } from '../../src/index.ts';
import { storeOnDatabase } from '../../src/sqlite-store.ts';
import { freshPath } from '../folder.ts';
import { create } from '../logs.ts';
import { start } from '../other-process.ts';

/** A process that was stopped inside a transaction on this file. */
async function stoppedInside(path: string): Promise<number> {
  await sqliteStore(path).close();
  const child = start(new URL('./hold-and-stop.ts', import.meta.url), [path]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const pid = child.pid!;
  await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /), {
    timeout: 20_000,
    interval: 10,
  });
  return pid;
}

describe.skipIf(process.platform !== 'linux')('a process that is stopped inside a transaction', () => {
  it('is waited for by a process that opens the file, which says so', async () => {
    const path = freshPath();
    const pid = await stoppedInside(path);
    const said: string[] = [];
    const store = sqliteStore(path, {
      onWait(message) {
        said.push(message);
        process.kill(pid, 'SIGCONT');
      },
    });
    expect(said).toEqual([`[baton] Waiting for ${path}: it is held by process ${pid}, which is stopped`]);
    await create(store, 't');
    await store.close();
  });

  it('is named when a process that opens the file gives up', async () => {
    const path = freshPath();
    const pid = await stoppedInside(path);
    expect(() => sqliteStore(path, { openTimeoutMs: 50 })).toThrow(
      expect.objectContaining({
        code: 'UNUSABLE',
        message: `${path} is held by process ${pid}, which is stopped, for longer than 50 ms`,
      }),
    );
  });

  it('is named when a write gives up, while reads go on', async () => {
    const path = freshPath();
    const db = openDatabase(path, 'normal');
    const store = storeOnDatabase(db, { name: path, shared: true, now: Date.now, maxWaitMs: 50 });
    onTestFinished(() => store.close());
    await create(store, 't');
    const pid = await stoppedInside(path);
    await expect(create(store, 'u')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `${path} is held by process ${pid}, which is stopped`,
    });
    expect(await store.load('s', 't')).toMatchObject({ version: 1 });
    process.kill(pid, 'SIGCONT');
    await vi.waitFor(() => create(store, 'v'), { timeout: 20_000, interval: 10 });
  });

  it('is found although a reading of the locks lacked it', async () => {
    const path = freshPath();
    const pid = await stoppedInside(path);
    let readings = 0;
    const reading = () => (++readings < 3 ? '' : readFileSync('/proc/locks', 'utf8'));
    expect(lockHolder(path, reading)).toBe(`process ${pid}, which is stopped`);
    expect(lockHolder(path, () => '')).toBe('another process');
  });
});
