import { FACT_FORMAT, type Fact, replay, type State } from '@batonjs/lifecycle';
import { expect, it } from 'vitest';
import { say } from '../../../../test/kit/rpc.ts';
import { nextSnapshot } from '../../src/log/snapshot-policy.ts';

const megabytes = 1024 * 1024;
const nothing = { version: 0, weight: 0, ownWeight: 0 };

/** A log of so many messages, each of so many bytes. */
function logOf(messages: number, bytes: number): State {
  const text = 'x'.repeat(bytes);
  const written = { format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z' } as const;
  const facts = Array.from(
    { length: messages },
    (): Fact => ({ ...written, type: 'message-received', message: say(text) }),
  );
  return replay(facts)!;
}

it('a snapshot is stored with a log that grew', () => {
  expect(nextSnapshot({}, nothing, logOf(64, 1_000))).toMatchObject({ version: 64 });
  expect(nextSnapshot({}, nothing, logOf(64, megabytes / 4))).toMatchObject({ version: 64 });
});

it('a snapshot is left out that is too large for one text, and is tried again when the log has grown by half', () => {
  const log = {};
  // Each message is in the conversation and waits for a turn: the state is twice as large as the messages.
  expect(nextSnapshot(log, nothing, logOf(136, 4 * megabytes))).toBeUndefined();
  expect(nextSnapshot(log, nothing, logOf(150, megabytes / 8))).toBeUndefined();
  expect(nextSnapshot({}, nothing, logOf(150, megabytes / 8))).toMatchObject({ version: 150 });
});

it('half as large a log again is enough', () => {
  const log = {};
  const large = logOf(136, 4 * megabytes);
  expect(nextSnapshot(log, nothing, large)).toBeUndefined();
  const small = logOf(150, 1_000);
  const grown = (weight: number) => nextSnapshot(log, nothing, { ...small, weight });
  expect(grown(1.5 * large.weight - 1)).toBeUndefined();
  expect(grown(1.5 * large.weight)).toMatchObject({ version: 150 });
});
