import { expect, it } from 'vitest';
import { parseFact } from '../../src/adapter.ts';
import { StoreError } from '../../src/index.ts';
import { listedFact } from '../../src/sql.ts';

it('reads a fact as it was written', () => {
  const fact = { format: 1, at: '2026-01-01T00:00:00.000Z', type: 'woken' };
  expect(parseFact(JSON.stringify(fact), 7)).toEqual(fact);
});

it('says which fact is no JSON, and why', () => {
  expect(() => parseFact('{"format":1,', 7)).toThrow(
    expect.objectContaining({
      name: 'StoreError',
      code: 'UNREADABLE',
      message: 'The fact at 7 is no valid JSON',
      cause: expect.any(SyntaxError),
    }),
  );
});

it('leaves out a damaged fact of a page, and no other error', () => {
  const stored = { version: 7, commitId: 'c', fact: parseFact('{"format":1}', 7) };
  expect(listedFact(() => stored)).toBe(stored);
  expect(listedFact(() => ({ ...stored, fact: parseFact('{', 7) }))).toBeUndefined();
  const unavailable = new StoreError('UNAVAILABLE', 'cut off');
  expect(() =>
    listedFact(() => {
      throw unavailable;
    }),
  ).toThrow(unavailable);
});
