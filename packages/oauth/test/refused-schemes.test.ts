import type { AgentCard } from '@batonjs/protocol';
import { expect, it } from 'vitest';
import { oauth, type StoredToken } from '../src/index.ts';

const issuers = ['https://one.example', 'https://two.example'];

/** An agent that takes tokens of two servers, each by a scheme that is named after it. */
const card = {
  securitySchemes: Object.fromEntries(
    issuers.map((issuer) => [
      issuer,
      {
        openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}/.well-known/openid-configuration` },
      },
    ]),
  ),
  securityRequirements: issuers.map((issuer) => ({ schemes: { [issuer]: { list: [] } } })),
} as unknown as AgentCard;

/** Credentials whose store has a valid token for everything, with the name of its server and its scopes. */
function credentials() {
  const store = {
    get(key: string): StoredToken {
      const [agent, server, , , , scopes] = JSON.parse(key);
      return { accessToken: [agent, server, ...scopes].join('_'), obtainedAt: Date.now() };
    },
    set() {},
    delete() {},
  };
  const clients = Object.fromEntries(issuers.map((issuer) => [issuer, { clientId: 'me' }]));
  const given = oauth({ clients, store });
  const ask = (n: number, more: object = {}) =>
    given({ url: `https://agent-${n}.example/rpc`, isTrusted: true, card, ...more });
  /** What agent 0 gets when a token lacks a scope, in a challenge that names the other scheme first. */
  const wider = async (refused: Record<string, string> | undefined) => {
    const lacks = issuers
      .toReversed()
      .map((realm) => `Bearer realm="${realm}", error="insufficient_scope", scope="write"`);
    return (await ask(0, { challenge: lacks.join(', '), refused }))?.authorization;
  };
  return { ask, wider };
}

it.each([
  ['the last 100 tokens', 99, 'one'],
  ['no token before these, so that the first scheme of a challenge counts', 100, 'two'],
])('the scheme is known of %s', async (_, others, server) => {
  const { ask, wider } = credentials();
  const refused = await ask(0);
  expect(refused?.authorization).toBe('Bearer https://agent-0.example_https://one.example/');
  for (let n = 1; n <= others; n += 1) await ask(n);
  expect(await wider(refused)).toBe(`Bearer https://agent-0.example_https://${server}.example/_write`);
});
