import { expect, it } from 'vitest';
import { memoryStore } from '../src/index.ts';

const head = {
  closed: false,
  contextId: 'c',
  version: 1,
  statusAt: '2026-01-01T00:00:00.000Z',
  statusVersion: 1,
  generation: 1,
  turn: 0,
  attempt: 0,
};
const at = head.statusAt;
const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'go' }] };

it.each([11_000, 3_600_000, -3_600_000])(
  'a lease lives as long as it should when the wall clock is set by %i ms',
  async (step) => {
    let now = Date.UTC(2026, 0, 1);
    let monotonic = 0;
    const store = memoryStore({ now: () => now, monotonic: () => monotonic });
    const claim = (holder: string, isKept?: (holder: string) => boolean) =>
      store.claim({ queue: 'q', holder, ttlMs: 1_000, limit: 1, isKept });
    await store.commit({
      scope: 's',
      taskId: 't',
      commitId: '1',
      expectedVersion: 0,
      facts: [{ format: 1, at, type: 'message-received', message }],
      head,
      turn: { queue: 'q', acquire: { holder: 'a', ttlMs: 1_000 } },
    });
    now += step;
    monotonic += 999;
    expect(await claim('b')).toEqual([]);
    monotonic += 1;
    expect(await claim('b', (holder) => holder === 'a')).toEqual([]);
    expect(await claim('b')).toMatchObject([{ taskId: 't', fence: 2, cause: 'expired' }]);
  },
);
