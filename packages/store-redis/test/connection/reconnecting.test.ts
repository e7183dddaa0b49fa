import { expect, it, vi } from 'vitest';
import { type Link, Reconnecting } from '../../src/connection/reconnecting.ts';

/** Connections that are there at once. */
function connections(timeoutMs: number) {
  const opened: (Link & { isOpen: boolean })[] = [];
  const reconnecting = new Reconnecting<Link>(
    () => {
      const destroy = () => {
        link.isOpen = false;
      };
      const link = { ready: Promise.resolve(), isOpen: true, destroy };
      opened.push(link);
      return link;
    },
    'here',
    timeoutMs,
  );
  const replaceOne = async () => {
    reconnecting.replace(await reconnecting.wait(), new Error('silent'));
    await vi.waitFor(() => expect(reconnecting.epoch).toBe(2));
  };
  return { reconnecting, replaceOne, open: () => opened.map(({ isOpen }) => isOpen) };
}

it('a connection that was replaced is closed when the time for answers on it is over', async () => {
  const { reconnecting, replaceOne, open } = connections(500);
  await replaceOne();
  await vi.waitFor(() => expect(open()).toEqual([false, true]));
  reconnecting.close();
  await vi.waitFor(() => expect(open()).toEqual([false, false]));
});

// The check around each file fails this one for a timer that is left.
it('a connection that was replaced stays open for answers, until all are closed: no timer is left', async () => {
  const { reconnecting, replaceOne, open } = connections(3_600_000);
  await replaceOne();
  expect(open()).toEqual([true, true]);
  reconnecting.close();
  await vi.waitFor(() => expect(open()).toEqual([false, false]));
});
