import { expect, it } from 'vitest';
import { parseFact } from '../../src/index.ts';

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
