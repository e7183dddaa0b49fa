import type { AgentCard } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { oauth, type StoredToken } from '../../src/index.ts';

const one = 'https://one.example';

const card = {
  securitySchemes: {
    one: { openIdConnectSecurityScheme: { openIdConnectUrl: `${one}/.well-known/openid-configuration` } },
  },
  securityRequirements: [{ schemes: { one: { list: ['a'] } } }],
} as unknown as AgentCard;

describe('scopes that are added', () => {
  const store = {
    get(key: string): StoredToken {
      return { accessToken: JSON.parse(key)[5].join(':'), obtainedAt: Date.now() };
    },
    set() {},
    delete() {},
  };
  const ask = async (credentials: ReturnType<typeof oauth>, agent: string) => {
    const headers = await credentials({ url: `${agent}/rpc`, isTrusted: true, card });
    return headers?.authorization;
  };

  it('are asked for by the next requests of that agent, each once', async () => {
    const clients = { [one]: { clientId: 'me' } };
    const credentials = oauth({ clients, store });
    expect(await ask(credentials, 'https://x.example')).toBe('Bearer a');
    credentials.addScopes('https://x.example/some/path', ['b', 'a']);
    credentials.addScopes(new URL('https://x.example/'), ['c', 'b']);
    expect(await ask(credentials, 'https://x.example')).toBe('Bearer a:b:c');
    expect(await ask(credentials, 'https://x.example:8443')).toBe('Bearer a');
  });

  it('must be among those that the client allows', async () => {
    const clients = { [one]: { clientId: 'me', scopes: ['a', 'b'] } };
    const credentials = oauth({ clients, store });
    credentials.addScopes('https://x.example', ['b']);
    expect(await ask(credentials, 'https://x.example')).toBe('Bearer a:b');
    credentials.addScopes('https://x.example', ['c']);
    await expect(ask(credentials, 'https://x.example')).rejects.toMatchObject({
      code: 'SCOPE_NOT_ALLOWED',
      message: 'The agent asks for the scope c',
    });
  });

  it('are of an agent that is a URL', () => {
    expect(() => oauth({ clients: {} }).addScopes('agent', ['a'])).toThrow(TypeError);
  });
});
