import { expect, it, onTestFinished, vi } from 'vitest';
import { sqliteFile } from '../sqlite-file.ts';

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
