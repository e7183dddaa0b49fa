import { expect, it, onTestFinished, vi } from 'vitest';
import { SqlSession } from '../../src/once.ts';
import { sqliteFile } from '../sqlite-file.ts';

it('does not lose its file to another process that writes after it has read', async () => {
  const first = sqliteFile();
  first.connection.exec('pragma journal_mode = wal');
  const second = sqliteFile(first.path);
  second.connection.exec('pragma busy_timeout = 0');
  await first.database.once(
    { scope: '', taskId: 't', turn: '1', name: 'creates the tables', fence: 1 },
    async () => null,
    new AbortController().signal,
  );
  // As the libraries begin one whose drivers are not ours.
  first.connection.exec('begin');
  await new SqlSession(first.database.driver).ensureTables(first.connection);
  expect(() => second.connection.exec("insert into effects values ('theirs')")).toThrow('locked');
  first.connection.exec("insert into effects values ('ours'); commit");
  expect(first.column('select id from effects')).toEqual(['ours']);
});

it('begins again for half a minute at most', async () => {
  const file = sqliteFile();
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 8_000));
  onTestFinished(() => clock.mockRestore());
  const fn = vi.fn(() => {
    throw Object.assign(new Error(), { code: '40001' });
  });
  const key = { scope: '', taskId: 't', turn: '1', name: 'pay', fence: 1 };
  const failing = file.database.once(key, fn, new AbortController().signal);
  await expect(failing).rejects.toMatchObject({ code: '40001' });
  expect(fn.mock.calls.length).toBeGreaterThan(1);
  expect(fn.mock.calls.length).toBeLessThan(5);
});
