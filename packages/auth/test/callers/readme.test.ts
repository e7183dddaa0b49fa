import { readFileSync } from 'node:fs';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  reply,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { allOf, anyOf, apiKey } from '../../src/index.ts';
import { authenticator, token } from './tokens.ts';

/** The agent of the README, as it stands there. */
function printedAgent(): Agent {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, source] = /^ {2}agent: (.*),$/m.exec(readme)!;
  return new Function('reply', `return ${source}`)(reply);
}

async function answer(authenticate: AgentServerOptions['authenticate'], headers: Record<string, string>) {
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Echo', description: 'Says it again' },
      agent: printedAgent(),
      store: memoryStore(),
      ...(authenticate && { authenticate }),
    }),
  );
  return send(server, headers);
}

/** The text of the answer to a message. */
async function send(server: Pick<AgentServer, 'fetch'>, headers: Record<string, string>): Promise<string> {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] };
  const response = await server.fetch(
    new Request('http://localhost/message:send', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body: JSON.stringify({ message }),
    }),
  );
  const { message: said } = await response.json();
  return said.parts[0].text;
}

const partner = apiKey({ header: 'X-API-Key', keys: new Map([['k', { scope: 'partner' }]]) });
const jwt = authenticator();

describe('the agent of the README names its caller', () => {
  it.each<[string, AgentServerOptions['authenticate'], Record<string, string>, string]>([
    ['by the subject of a token', anyOf(jwt, partner), { authorization: 'JWT' }, 'ada'],
    ['by the scope of a key', anyOf(jwt, partner), { 'x-api-key': 'k' }, 'partner'],
    ['by that of a function', async () => ({ scope: 'me' }), {}, 'me'],
    ['by its claim, whatever its scope', async () => ({ scope: 'me', claims: { sub: 'bob' } }), {}, 'bob'],
    [
      'by the scope of several credentials',
      allOf(
        apiKey({ name: 'other', header: 'X-Other', keys: new Map([['o', { scope: 'other' }]]) }),
        partner,
      ),
      { 'x-api-key': 'k', 'x-other': 'o' },
      '["other","partner"]',
    ],
  ])('%s', async (_, authenticate, headers, name) => {
    const sent = headers.authorization ? { authorization: `Bearer ${await token()}` } : headers;
    expect(await answer(authenticate, sent)).toBe(`${name}: hi`);
  });

  it('and a scope is no claim that a caller can choose', async () => {
    let seen: unknown;
    const server = closedAfterTest(
      createAgentServer({
        card: { name: 'Echo', description: 'Says it again' },
        agent: ({ caller }) => {
          const scope: string | undefined = caller.scope;
          seen = scope;
          return reply('');
        },
        store: memoryStore(),
        authenticate: async () => ({ scope: 'real', claims: { scope: 'claimed' } }),
      }),
    );
    await send(server, {});
    expect(seen).toBe('real');
  });
});
