import { describe, expect, it } from 'vitest';
import type { RecordRow } from '../../src/port/rows.ts';
import { changeOf, type Found } from '../../src/rules/change.ts';
import {
  deleteRecordStep,
  expireStep,
  putRecordStep,
  recordsWanted,
  storedRecord,
} from '../../src/rules/record.ts';

const foundAt = (now: number, row?: RecordRow): Found => ({
  now,
  orderNow: now,
  leaseNow: 0,
  records: [row],
  expired: row ? [row] : [],
});
const row = (more: Partial<RecordRow> = {}): RecordRow => ({
  name: 'a',
  revision: 1_000,
  json: '{"a":1}',
  scope: undefined,
  ttlMs: undefined,
  expiresAt: undefined,
  ...more,
});
const timed = row({ ttlMs: 100, expiresAt: 1_100 });

describe('a record', () => {
  it('begins with the time, and grows by the time or by one', () => {
    const put = (found: Found, revision: number) => changeOf(putRecordStep('a', revision, 2), found);
    const whole = { name: 'a', json: '2', scope: undefined, ttlMs: undefined, expiresAt: undefined };
    expect(put(foundAt(1_234.5), 0)).toEqual({
      result: 1_234,
      records: [{ before: undefined, after: { ...whole, revision: 1_234 } }],
    });
    expect(put(foundAt(2_000, row()), 1_000).result).toBe(2_000);
    // A clock that was set back.
    expect(put(foundAt(1, row()), 1_000).result).toBe(1_001);
    expect(put(foundAt(1, timed), 0).result).toBe(1_001);
    expect(put(foundAt(2_000, row()), 999)).toEqual({ result: undefined });
  });

  it.each([
    [999.9, true],
    [1_099.9, true],
    [1_100, false],
    // More than twice its time is left: the clock was wrong when it was written.
    [900, true],
    [899.9, false],
  ])('whose time is over at 1,100, at %d is seen: %s', (now, isSeen) => {
    expect(storedRecord(timed, foundAt(now)) !== undefined).toBe(isSeen);
    const written = changeOf(putRecordStep('a', isSeen ? 1_000 : 0, 1), foundAt(now, timed));
    expect(written.records?.[0]?.before).toBe(timed);
    expect(changeOf(deleteRecordStep('a'), foundAt(now, timed)).result).toBe(isSeen);
  });

  it('ends a whole millisecond after its time', () => {
    const { records } = changeOf(putRecordStep('a', 0, 1, { ttlMs: 0.5, scope: 's' }), foundAt(10.2));
    expect(records?.[0]?.after).toMatchObject({ ttlMs: 0.5, expiresAt: 11, scope: 's' });
  });

  it('that is expired goes, and nothing is written where none is', () => {
    const step = expireStep(7);
    expect([step.wanted, step.isMostlyIdle]).toEqual([{ expired: { limit: 7 } }, true]);
    expect(changeOf(step, foundAt(0))).toEqual({ result: 0 });
    const records = [{ before: timed, after: undefined }];
    expect(changeOf(step, foundAt(0, timed))).toEqual({ result: 1, records });
  });

  it('is looked for from the beginning of its name, or after another one', () => {
    const listed = (query: object) => recordsWanted({ limit: 3, ...query }).listed;
    expect(listed({})).toEqual({ scope: undefined, from: '', until: '\u007f', limit: 3 });
    expect(listed({ prefix: 'b/', scope: 's' })).toMatchObject({ scope: 's', from: 'b/', until: 'b/\u007f' });
    expect(listed({ prefix: 'b/', after: 'b/1' })?.from).toBe('b/1 ');
    expect(listed({ prefix: 'b/', after: 'a' })?.from).toBe('b/');
  });
});
