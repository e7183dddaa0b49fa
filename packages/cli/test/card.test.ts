import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { signCard } from '@batonjs/auth';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { manyCard, serveMany } from './agents.ts';
import { cli, fieldOf } from './cli.ts';

/** Serves one document at every path. */
const serveJson = (document: unknown, headers: Record<string, string> = {}, onRequest = () => {}) =>
  listen(
    createServer((_, response) => {
      onRequest();
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(typeof document === 'string' ? document : JSON.stringify(document));
    }),
  );

const cardOf = async (url: string) => (await cli(`card get ${url} -o json`)).json;

describe('card get', () => {
  it('finds a card by host, URL, path and file URL [A2ACLI_CARD_GET_001, R-CLI-10, R-CLI-20, R-CLI-64]', async () => {
    const url = await serveMany();
    const home = temporaryFolder();
    const card = await cardOf(url);
    expect(card).toMatchObject({ name: 'Many', supportedInterfaces: [{ url }, { url }] });
    const file = join(home, 'card.json');
    writeFileSync(file, JSON.stringify(card));
    const references = [
      new URL(url).host,
      `${url}/.well-known/agent-card.json`,
      file,
      String(pathToFileURL(file)),
    ];
    for (const reference of references) {
      expect((await cli(['card', 'get', '-a', reference, '-o', 'json'])).json).toEqual(card);
      expect((await cli(['send', '-a', reference, 'hello'])).code).toBe(0);
    }
    expect((await cli('card get card.json -o json', { home, cwd: home })).json).toEqual(card);
  });

  it('shows identity, capabilities, interfaces, schemes and skills [A2ACLI_CARD_GET_001]', async () => {
    const skills = [{ id: 'echo', name: 'Echo', description: 'Says it again', tags: [] }];
    const url = await serveMany({ card: { ...manyCard, skills } });
    const { stdout } = await cli(`card get ${url}`);
    expect(fieldOf(stdout, 'Name')).toBe('Many');
    expect(fieldOf(stdout, 'Interface')).toBe(`JSONRPC 1.0 ${url}`);
    expect(fieldOf(stdout, 'Streaming')).toBe('true');
    expect(fieldOf(stdout, 'Skill')).toBe('echo: Echo. Says it again');
    expect(fieldOf(stdout, 'Signature')).toBe('absent');
  });

  it('keeps a card as long as the agent allows [A2ACLI_CARD_GET_001]', async () => {
    const card = await cardOf(await serveMany());
    for (const [header, requests] of [
      ['max-age=600', 1],
      ['no-store', 2],
    ] as const) {
      let asked = 0;
      const url = await serveJson(card, { 'cache-control': header }, () => {
        asked += 1;
      });
      const home = temporaryFolder();
      for (const _ of [1, 2]) await cli(`card get ${url}`, { home });
      expect(asked).toBe(requests);
    }
  });

  it('checks a card against the schema with --validate [A2ACLI_CARD_GET_002]', async () => {
    const url = await serveMany();
    expect(fieldOf((await cli(`card get ${url} --validate`)).stdout, 'Valid')).toBe('true');
    const { skills: _, ...wrong } = await cardOf(url);
    const broken = await serveJson(wrong);
    const ran = await cli(`card get ${broken} --validate -o json`);
    expect(ran).toMatchObject({ code: 1, json: { error: { code: 'A2ACLI_ERR_CARD_INVALID' } } });
    expect(ran.json.error.message).toContain('skills');
    expect((await cli(`card get ${broken}`)).code).toBe(0);
    const skills = [{ id: 1, name: 'Echo', description: 'Says it again', tags: [] }];
    const deeper = await serveJson({ ...wrong, skills });
    expect((await cli(`card get ${deeper} --validate`)).stderr).toMatch(
      /^Error: The card does not fit its schema: skills\.0\.id: .*\n/,
    );
    expect((await cli(`doctor -a ${deeper} -o json`)).json.findings[1]).toEqual({
      check: 'card fits its schema',
      result: 'problem',
      note: expect.stringMatching(/^skills\.0\.id: /),
    });
  });

  it('reads the extended card, with credentials only as the public card says [A2ACLI_CARD_GET_003]', async () => {
    const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
    const url = await serveMany({
      card: {
        ...manyCard,
        securitySchemes: { bearer },
        securityRequirements: [{ schemes: { bearer: { list: [] } } }],
        extended: () => ({ description: 'More for you' }),
      },
      authenticate: ({ headers }) =>
        headers.authorization === 'Bearer t0ken' ? { scope: 'ada' } : undefined,
    });
    const { json, code } = await cli(`card get ${url} --extended --bearer t0ken -o json`);
    expect(code).toBe(0);
    expect(json.description).toBe('More for you');
    expect((await cli(`card get ${url} --extended -o json`)).json.error.code).toBe(
      'A2ACLI_ERR_CREDENTIALS_MISSING',
    );
  });

  it('says whether a signature is verified, unverifiable or absent [A2ACLI_CARD_GET_004]', async () => {
    const home = temporaryFolder();
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const card = await cardOf(await serveMany());
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' };
    const signed = await signCard(card, jwk);
    const keys = join(home, 'keys.json');
    writeFileSync(
      keys,
      JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' }] }),
    );
    const url = await serveJson(signed);
    expect(fieldOf((await cli(`card get ${url} --jwks ${keys}`)).stdout, 'Signature')).toBe('verified (k1)');
    const out = await cli(`card get ${url} --jwks https://127.0.0.1:${await freePort()}/keys`);
    expect(fieldOf(out.stdout, 'Signature')).toBe('unverifiable (The trusted keys cannot be fetched)');
    const unverifiable = await cli(`card get ${url}`);
    expect(fieldOf(unverifiable.stdout, 'Signature')).toContain('unverifiable');
    expect(unverifiable.code).toBe(0);
    const forged = await serveJson({ ...signed, name: 'Forged' });
    expect((await cli(`card get ${forged} --jwks ${keys} -o json`)).json.error.code).toBe(
      'A2ACLI_ERR_CARD_INVALID',
    );
  });

  it('that fails says why, with the exit code of the reason [A2ACLI_EXIT_001, R-CLI-81, R-CLI-82, R-CLI-83]', async () => {
    const nothing = await listen(createServer((_, response) => response.writeHead(404).end()));
    const rows = [
      [`card get http://127.0.0.1:${await freePort()}`, 'A2ACLI_ERR_UNREACHABLE', 3],
      [`card get ${nothing}`, 'A2ACLI_ERR_CARD_NOT_FOUND', 3],
      ['card get /dev/null/such/card.json', 'A2ACLI_ERR_CARD_NOT_FOUND', 3],
      [`card get ${await serveJson('<html>')}`, 'A2ACLI_ERR_CARD_INVALID', 1],
      [`card get ${await serveJson({ name: 'No card' })}`, 'A2ACLI_ERR_CARD_INVALID', 1],
      ['card get', 'A2ACLI_ERR_USAGE', 2],
    ] as const;
    for (const [line, name, code] of rows) {
      const ran = await cli(`${line} -o json --timeout 5s`);
      expect([line, ran.code, ran.json.error.code]).toEqual([line, code, name]);
    }
  });
});
