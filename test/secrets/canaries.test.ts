import { describe, expect, it } from 'vitest';
import { canaries } from './canaries.ts';

/** How a secret may stand in what leaves a process. */
const ways: readonly (readonly [way: string, (secret: string) => unknown])[] = [
  ['as it is', (secret) => `token ${secret}!`],
  ['in a URL', (secret) => new URL(`http://a.example/?${new URLSearchParams({ secret })}`).href],
  ['in JSON', (secret) => JSON.stringify({ a: JSON.stringify({ secret }) })],
  ['as a user with a password', (secret) => `Basic ${Buffer.from(`me:${secret}`).toString('base64')}`],
  ['as a user of another length', (secret) => `Basic ${Buffer.from(`us:${secret}`).toString('base64')}`],
  ['as the end of base64url', (secret) => Buffer.from(`abc${secret}`).toString('base64url')],
  ['in bytes', (secret) => Buffer.from(`abc${secret}`)],
  ['in the cause of an error', (secret) => new Error('It failed', { cause: new Error(secret) })],
  ['in a member of an error', (secret) => Object.assign(new Error('It failed'), { sent: { secret } })],
  ['deep in a value', (secret) => ({ a: { b: { c: { d: { e: { f: [secret] } } } } } })],
  ['in a map', (secret) => new Map([['authorization', secret]])],
];

describe('a secret that leaves is found', () => {
  it.each(ways)('%s', (_, write) => {
    const secrets = canaries();
    const secret = secrets.plant('the token');
    secrets.arrive(secret);
    secrets.leave('a log', write(secret));
    expect(() => secrets.check()).toThrow();
    secrets.check(['the token in a log']);
  });

  it('and one that was never used proves nothing', () => {
    const secrets = canaries();
    secrets.plant('the token');
    expect(() => secrets.check()).toThrow();
  });
});
