import { expect, it } from 'vitest';
import { sha256, toHex } from '../../src/keys/digest.ts';

it('writes a hash in lower-case hexadecimal, zeros included', async () => {
  expect(toHex(Uint8Array.of(0, 10, 255))).toBe('000aff');
  expect(toHex(await sha256('é'))).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
});
