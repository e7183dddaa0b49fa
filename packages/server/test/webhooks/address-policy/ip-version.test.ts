import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repetitions } from '../../../../../test/kit/repetitions.ts';
import { ipVersion } from '../../../src/webhooks/address-policy/address-policy.ts';

it('a text without a zone is an address, of that version, where Node.js says so', () => {
  const nearly = fc.stringMatching(/^[0-9a-f:.x]{0,24}$/);
  const text = fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6(), nearly, fc.domain());
  fc.assert(
    fc.property(text, (text) => {
      expect(ipVersion(text)).toBe(isIP(text));
    }),
    { numRuns: repetitions(3_000, 20_000) },
  );
});
