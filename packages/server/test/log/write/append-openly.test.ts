import { FACT_FORMAT, type Fact, type FactOf } from '@batonjs/lifecycle';
import { StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { decideAll } from '../../../src/log/write/decision.ts';
import { appendOpenly, write } from '../../../src/log/write/write.ts';
import { liveTasks } from '../kit/live-tasks.ts';

const at = '2026-01-01T00:00:00.000Z';
const message = (messageId: string): Fact => ({
  type: 'message-received',
  format: FACT_FORMAT,
  at,
  message: { messageId, contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'go' }] },
});
const turn = { queue: 'q', want: true };

/** A task of two facts, on a store that does the next commit and then fails once it is told to. */
async function begun() {
  let isFailing = false;
  const store = change(memoryStore(), {
    commit: (commit) => async (one) => {
      const committed = await commit(one);
      if (!isFailing) return committed;
      isFailing = false;
      throw new StoreError('UNAVAILABLE', 'No answer');
    },
  });
  const tasks = liveTasks(store);
  const live = tasks.begin('s', 't');
  const { message: first } = message('m') as FactOf<'message-received'>;
  await write(live, (state) =>
    decideAll(
      state,
      [
        { type: 'receive', message: first },
        { type: 'create', taskId: 't' },
      ],
      at,
    ),
  );
  return { live, fail: () => (isFailing = true) };
}

it('what was appended although the store gave no answer is appended once, and is no repetition', async () => {
  const { live, fail } = await begun();
  fail();
  const facts = [message('a'), message('b')];
  expect(await appendOpenly(live, facts, 'once', turn)).toMatchObject({ first: 3, repeated: false });
  expect(live.version).toBe(4);
});

it('what another call of the same name appended is a repetition, at its place', async () => {
  const { live } = await begun();
  const first = await appendOpenly(live, [message('a')], 'once', turn);
  expect([first.first, first.repeated ?? false]).toEqual([3, false]);
  expect(await appendOpenly(live, [message('b')], 'other', turn)).toMatchObject({ first: 4 });
  expect(await appendOpenly(live, [message('a')], 'once', turn)).toMatchObject({ first: 3, repeated: true });
  expect(live.version).toBe(4);
});
