import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../../../test/support/growth.ts';
import { AddressRefused, addressPolicy, fetchFile, safeFetch } from '../../../src/webhooks/address-policy.ts';

const longest = 8_192;
const resolve = async () => ['93.184.216.34'];
const { signal } = new AbortController();
/** A URL of a public host with this many characters. */
const urlOf = (length: number) => 'https://public.example/'.padEnd(length, 'x');

describe('a URL of many', () => {
  it.each([
    ['dots', (length: number) => `http://${'.'.repeat(length)}a/`],
    ['dots at the end', (length: number) => `http://a${'.'.repeat(length)}/`],
    ['labels', (length: number) => `http://${'a.'.repeat(length / 2)}/`],
    ['brackets', (length: number) => `http://${'['.repeat(length)}/`],
    ['colons', (length: number) => `http://${':'.repeat(length)}/`],
    ['at signs', (length: number) => `http://${'@'.repeat(length)}/`],
    ['slashes', (length: number) => `http://a.example${'/'.repeat(length)}`],
    ['parent folders', (length: number) => `http://a.example${'/..'.repeat(length / 3)}`],
    ['encoded dots', (length: number) => `http://${'%2e'.repeat(length / 3)}a/`],
  ])('%s is judged in a time that grows with its length', (_what, urlOf) => {
    const policy = addressPolicy({ allow: ['*.corp.example', '10.0.0.0/8'] });
    const judge = (length: number) => {
      try {
        policy.check(urlOf(length));
      } catch (error) {
        if (!AddressRefused.is(error)) throw error;
      }
    };
    expect(growthOf(judge, 2_000)).toBeLessThan(8);
  });
});

describe('a URL of more than 8,192 characters', () => {
  it('is refused before anything else is asked of it', async () => {
    const policy = addressPolicy({ resolve, allow: ['*'] });
    const long = urlOf(longest + 1);
    expect(policy.check(urlOf(longest)).hostname).toBe('public.example');
    expect(() => policy.check(long)).toThrow('must have at most 8192 characters');
    await expect(policy.destination(long, signal)).rejects.toSatisfy((error) => AddressRefused.is(error));
    await expect(safeFetch(long, { resolve })).rejects.toSatisfy((error) => AddressRefused.is(error));
  });

  it('of a file is the fault of who sent it', async () => {
    await expect(fetchFile(urlOf(longest + 1), { resolve })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: 'The file cannot be fetched: its URL must have at most 8192 characters',
    });
  });
});
