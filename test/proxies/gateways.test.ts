import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { signCard, verifyCard } from '@batonjs/auth';
import { type ConnectOptions, connect } from '@batonjs/client';
import { append, artifact, completed, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../kit/listen.ts';
import { serve } from '../kit/serve.ts';
import { type Fault, gatewayTo } from '../support/gateway.ts';

const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const key = { ...jwk, kid: 'k', alg: 'ES256' };
const { d: _d, ...publicKey } = key;

/** What a client of Baton gets through a gateway with this fault: the text of the task, or the message of its error. */
async function through(
  fault: Fault,
  {
    path = '',
    silentMs = 0,
    ...options
  }: ConnectOptions & { readonly path?: string; readonly silentMs?: number } = {},
) {
  let runs = 0;
  const listener = createServer((request, response) => handler(request, response));
  const agent = await listen(listener);
  // The gateway is known only after the agent: what it is asked for tells.
  const server = serve(
    async function* () {
      runs += 1;
      yield working('On it');
      yield artifact('a', 'one ');
      if (silentMs) await new Promise((resolve) => setTimeout(resolve, silentMs));
      yield append('a', 'two');
      yield completed();
    },
    {
      publicUrl: `${agent}`,
      card: { name: 'Behind', description: 'Is behind a gateway', sign: (card) => signCard(card, key) },
      messages: { idempotency: true },
    },
  );
  const handler = nodeHandler(server);
  const origin = await gatewayTo(agent, fault);
  try {
    const client = await connect(origin + path, {
      retry: { attempts: 3 },
      trustedOrigins: [agent],
      ...options,
    });
    const stream = client.stream('go', { followForMs: 400 });
    for await (const _event of stream) void _event;
    const { task } = await stream.result();
    const text = task?.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('');
    return { said: text, runs, at: client.interface.url, origin, agent };
  } catch (error) {
    return { said: String(error), runs, origin, agent };
  }
}

const toGateway: Fault['card'] = (card, gateway) => {
  for (const one of card.supportedInterfaces)
    one.url = gateway + new URL(one.url).pathname.replace(/\/$/, '');
};
const html = (status: number) => () =>
  new Response('<html>Bad gateway</html>', { status, headers: { 'content-type': 'text/html' } });
const isCall = ({ path }: { path: string }) => !path.includes('.well-known');

describe('a gateway between client and agent', () => {
  it.each<[string, Fault, Parameters<typeof through>[1]]>([
    ['rewrites the addresses of a card', { card: toGateway }, {}],
    [
      'drops A2A-Extensions',
      { card: toGateway, request: ({ headers }) => headers.delete('a2a-extensions') },
      {},
    ],
    ['holds streams back until they end', { card: toGateway, buffers: true }, {}],
    ['ends a stream that is silent', { card: toGateway, silenceMs: 60 }, { silentMs: 200 }],
    ['sends each POST twice', { card: toGateway, repeats: true }, {}],
    [
      'adds a prefix that it strips again',
      {
        card: (card, gateway) => {
          for (const one of card.supportedInterfaces) one.url = `${gateway}/a2a`;
        },
        request: (passed) => {
          passed.path = passed.path.replace(/^\/a2a/, '') || '/';
        },
      },
      { path: '/a2a' },
    ],
  ])('does no harm: it %s', async (_, fault, options) => {
    expect(await through(fault, options)).toMatchObject({ said: 'one two', runs: 1 });
  });

  it.each<[string, Fault, Parameters<typeof through>[1], RegExp]>([
    [
      'a card whose signature it broke',
      { card: toGateway },
      { verifyCard: (card) => verifyCard(card, { keys: [publicKey] }) },
      /not to be trusted: .*signature/,
    ],
    [
      'a version that it dropped',
      { card: toGateway, request: ({ headers }) => headers.delete('a2a-version') },
      {},
      /A2A-Version/,
    ],
    [
      'a page of HTML with an error',
      { card: toGateway, instead: (p) => (isCall(p) ? html(502)() : undefined) },
      {},
      /502.*text\/html/,
    ],
    [
      'a page of HTML as an answer',
      { card: toGateway, instead: (p) => (isCall(p) ? html(200)() : undefined) },
      {},
      /text\/html/,
    ],
    [
      'a card that is not at the path asked for',
      { instead: (p) => (isCall(p) ? undefined : html(404)()) },
      {},
      /agent-card\.json answers 404 with text\/html/,
    ],
    [
      'a prefix that it did not strip',
      {
        card: toGateway,
        request: (p) => {
          if (isCall(p)) p.path = `/x${p.path}`;
        },
      },
      {},
      /Method not found/,
    ],
    [
      'methods in lower case',
      {
        card: toGateway,
        request: (p) => {
          p.body = p.body.replace(/"method":"\w+"/, (m) => m.toLowerCase());
        },
      },
      {},
      /is written SendStreamingMessage/,
    ],
    [
      'a body that is too large for it',
      { card: toGateway, instead: (p) => (isCall(p) ? html(413)() : undefined) },
      {},
      /413/,
    ],
  ])('is named as the cause of %s', async (_, fault, options, cause) => {
    const { said } = await through(fault, options);
    expect(said).toMatch(cause);
  });
});
