import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signCard } from '@batonjs/auth';
import { completed, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { type Fault, gatewayTo } from '../../../test/support/gateway.ts';
import { cli } from './cli.ts';

const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const key = { ...jwk, kid: 'k', alg: 'ES256' };
const { d: _d, ...publicKey } = key;

/** Looks at a signed agent through a gateway with a fault. The agent works for a second and a bit. */
async function examined(fault: Fault, { path = '', flags = '--text go' } = {}) {
  const listener = createServer((request, response) => handler(request, response));
  const agent = await listen(listener);
  const gateway = await gatewayTo(agent, fault);
  const server = serve(
    async function* () {
      yield working('On it');
      await sleep(1_200);
      yield completed();
    },
    {
      publicUrl: gateway + path,
      card: { name: 'Behind', description: 'Is behind a gateway', sign: (card) => signCard(card, key) },
      // Declares an extension.
      compatibility: ['1.1'],
    },
  );
  const handler = nodeHandler(server);
  const keys = join(temporaryFolder(), 'keys.json');
  writeFileSync(keys, JSON.stringify({ keys: [publicKey] }));
  const { code, json } = await cli(`doctor ${gateway}${path} --from outside --jwks ${keys} ${flags} -o json`);
  const findings: { check: string; result: string; note: string }[] = json.findings;
  const of = (result: string) => findings.filter((one) => one.result === result);
  return { code, problems: of('problem'), skipped: of('skipped'), ok: of('ok'), gateway };
}

const isCall = ({ path }: { path: string }) => !path.includes('.well-known');
const page = (status: number) => () =>
  new Response('<title>Bad</title>', { status, headers: { 'content-type': 'text/html' } });
const checks = [
  'card at its path',
  'signature of the card',
  'address in the card',
  'calls',
  'A2A-Version',
  'A2A-Extensions',
  'silence',
  'events come as they are made',
  'a POST is sent once',
];

describe('doctor --from outside', () => {
  it('finds nothing where a gateway passes all on', async () => {
    const { code, problems, skipped, ok } = await examined({});
    expect({ code, problems, skipped }).toEqual({ code: 0, problems: [], skipped: [] });
    expect(ok.map(({ check }) => check)).toEqual(checks);
  });

  it.each<[string, Fault, string, RegExp]>([
    [
      'rewrites the addresses of a card',
      {
        card: (card, gateway) => {
          for (const one of card.supportedInterfaces) one.url = `${gateway}/`;
        },
      },
      'signature of the card',
      /signature.*rewrites the addresses.*publicUrl/,
    ],
    [
      'names an address that nobody reaches',
      {
        card: ({ supportedInterfaces }) => {
          for (const one of supportedInterfaces) one.url = 'http://127.0.0.1:1';
        },
      },
      'address in the card',
      /127\.0\.0\.1:1 is not at .* is not reached: set `publicUrl`/,
    ],
    [
      'asks for the card elsewhere',
      { instead: (p) => (isCall(p) ? undefined : page(404)()) },
      'card at its path',
      /agent-card\.json answers 404 with text\/html/,
    ],
    [
      'drops A2A-Version',
      { request: ({ headers }) => headers.delete('a2a-version') },
      'calls',
      /header A2A-Version does not arrive/,
    ],
    [
      'drops A2A-Extensions',
      { request: ({ headers }) => headers.delete('a2a-extensions') },
      'A2A-Extensions',
      /does not name .*: pass the header A2A-Extensions on/,
    ],
    ['cuts what is silent', { silenceMs: 300 }, 'silence', /after .* without an event: raise the time/],
    ['holds streams back', { buffers: true }, 'events come as they are made', /turn buffering off/],
    [
      'sends a POST twice',
      { repeats: true },
      'a POST is sent once',
      /made 2 tasks: turn retries of POST off/,
    ],
    [
      'does not strip a prefix',
      {
        request: (p) => {
          if (isCall(p)) p.path = `/x${p.path}`;
        },
      },
      'calls',
      /a prefix is added, or not taken away/,
    ],
    [
      'answers with a page',
      { instead: (p) => (isCall(p) ? page(502)() : undefined) },
      'calls',
      /answers 502 with text\/html \("Bad"\).*; the agent did not answer this/,
    ],
    [
      'writes methods in lower case',
      {
        request: (p) => {
          p.body = p.body.replace(/"method":"\w+"/, (method) => method.toLowerCase());
        },
      },
      'calls',
      /is written GetTask; the body was changed/,
    ],
  ])('names the cause where a gateway %s, and no other', async (_, fault, check, note) => {
    const { code, problems } = await examined(fault);
    expect(code).toBe(1);
    const isAddress = check === 'address in the card';
    expect(problems.find((one) => one.check === check)?.note).toMatch(note);
    // A card with a wrong address has a wrong signature, and no call arrives.
    if (!isAddress) expect(problems.map((one) => one.check)).toEqual([check]);
  });

  it('says what is left out, and why', async () => {
    const { skipped } = await examined({}, { flags: '' });
    expect(skipped).toEqual(
      checks
        .slice(-3)
        .map((check) => ({ check, result: 'skipped', note: 'give --text, whose work takes a while' })),
    );
    const { code, stderr } = await cli('doctor --from outside -e http://127.0.0.1:1 --transport rest');
    expect([code, stderr]).toEqual([2, expect.stringContaining('needs the address of an agent')]);
  });
});
