import { describe, expect, it } from 'vitest';
import { type OAuthOptions, oauth } from '../src/index.ts';

const mine = 'https://id.example';

describe('the options', () => {
  const asKey = 'The key "%s" of `clients` must be';
  it.each<[string, unknown, string]>([
    ['http://id.example', { clientId: 'me' }, `${asKey} an https URL, or http on this machine`],
    ['id.example', { clientId: 'me' }, `${asKey} an https URL, or http on this machine`],
    ['javascript:alert(1)', { clientId: 'me' }, `${asKey} an https URL, or http on this machine`],
    [
      `${mine}/.well-known/openid-configuration`,
      { clientId: 'me' },
      `${asKey} the issuer, not where its metadata is`,
    ],
    [mine, { clientId: '' }, 'The client of %s needs a `clientId`'],
    [mine, { clientId: 7 }, 'The client of %s needs a `clientId`'],
    [mine, undefined, 'The client of %s needs a `clientId`'],
    [
      mine,
      { clientId: 'me', agents: [mine, 'a.example'] },
      'The client of %s lists the agent "a.example", which must be a URL',
    ],
  ])('refuse the client of %s: %j', (server, client, message) => {
    const clients = { [server]: client } as OAuthOptions['clients'];
    expect(() => oauth({ clients })).toThrow(new TypeError(message.replace('%s', server)));
  });
});
