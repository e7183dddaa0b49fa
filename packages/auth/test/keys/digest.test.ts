import { describe, expect, it } from 'vitest';
import { areEqual, sha256, toHex } from '../../src/keys/digest.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);

describe('areEqual', () => {
  it.each([
    ['nothing', bytes(), bytes(), true],
    ['the same', bytes(1, 2, 3), bytes(1, 2, 3), true],
    ['another first byte', bytes(1, 2, 3), bytes(9, 2, 3), false],
    ['another byte in the middle', bytes(1, 2, 3), bytes(1, 9, 3), false],
    ['another last byte', bytes(1, 2, 3), bytes(1, 2, 9), false],
    ['differences that cancel each other out', bytes(1, 2, 3), bytes(2, 1, 3), false],
    ['one byte more', bytes(1, 2, 3), bytes(1, 2, 3, 4), false],
    ['one byte less', bytes(1, 2, 3), bytes(1, 2), false],
    ['a zero more', bytes(1, 2), bytes(1, 2, 0), false],
    ['a zero less', bytes(1, 2, 0), bytes(1, 2), false],
    ['nothing against zeros', bytes(), bytes(0, 0), false],
  ])('of two texts with %s', (_what, a, b, expected) => {
    expect(areEqual(a, b)).toBe(expected);
  });
});

it('writes a hash in lower-case hexadecimal, zeros included', async () => {
  expect(toHex(bytes(0, 10, 255))).toBe('000aff');
  expect(toHex(await sha256('é'))).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
});
