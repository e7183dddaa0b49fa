import { expect, it } from 'vitest';
import { AddressRefused, addressPolicy } from '../../../src/webhooks/address-policy.ts';

it('a refusal is recognised by name and code, also one of another copy of the package', () => {
  const copy = Object.assign(new Error('must be an https URL'), {
    name: 'AddressRefused',
    code: 'ADDRESS_REFUSED',
  });
  expect(AddressRefused.is(copy)).toBe(true);
  expect(AddressRefused.is(new AddressRefused('must be an https URL'), 'ADDRESS_REFUSED')).toBe(true);
  expect(() => addressPolicy().check('ftp://example.org')).toThrow(AddressRefused);
});

it('another error, a text and nothing are no refusals', () => {
  const other = Object.assign(new Error('no'), { code: 'ADDRESS_REFUSED' });
  for (const value of [other, 'AddressRefused', null, undefined])
    expect(AddressRefused.is(value)).toBe(false);
});
