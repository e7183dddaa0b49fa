import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentCard } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { fileCardCache, resolveReference } from '../src/connection/card-reference.ts';
import { attach, type GivenCredentials } from '../src/connection/credentials.ts';
import { originAt } from '../src/connection/open-agent.ts';
import { addServiceParameter, addTransport, toCount, toMetadata } from '../src/flags/agent-flags.ts';
import { toDuration } from '../src/flags/duration.ts';
import { toState } from '../src/flags/filter-flags.ts';
import { keepToken, tokenFor } from '../src/settings/settings.ts';
import { serveMany } from './agents.ts';
import { cli } from './cli.ts';

/** What a reader makes of a text, or what it says against it. */
const readBy =
  (read: (text: string) => unknown) =>
  (text: string): unknown => {
    try {
      return read(text);
    } catch (error) {
      return (error as Error).message;
    }
  };

const duration = 'A duration is a number with a unit, such as 500ms, 2s, 1m30s or 7d.';
const parameter = 'A service parameter is name:value.';
const metadata = 'Metadata is a JSON object.';
const transport = 'A transport is jsonrpc, rest or grpc.';

// biome-ignore format: a table reads best with one row per line
describe.each<[what: string, read: (text: string) => unknown, rows: readonly (readonly [string, unknown])[]]>([
  ['a duration', toDuration, [
    ['500ms', 500], ['2s', 2_000], ['1m30s', 90_000], ['1h', 3_600_000], ['1h1m1s1ms', 3_661_001], ['0.5s', 500], ['1.125s', 1_125], ['999999999ms', 999_999_999], ['30d', 2_592_000_000], ['1d1h1m1s1ms', 90_061_001],
    ['', duration], ['5', duration], ['s', duration], ['.5s', duration], ['1.s', duration], ['1.1234s', duration], ['1234567890ms', duration], ['1d1h1m1s1ms1ms', duration], [' 1s', duration], ['1s ', duration], ['1S', duration],
  ]],
  ['a service parameter', (text) => addServiceParameter(text), [
    ['a:b', { a: 'b' }], ['X-Team: blue ', { 'x-team': 'blue ' }], ['a:', { a: '' }], ['a:b:c', { a: 'b:c' }], ["!#$%&'*+.^_`|~9-:x", { "!#$%&'*+.^_`|~9-": 'x' }],
    ['nocolon', parameter], [':b', parameter], ['a b:c', parameter], ['a:b\nc', parameter], ['a:b\rc', parameter], [' a:b', parameter],
  ]],
  ['metadata', toMetadata, [['{"a":1}', { a: 1 }], ['{}', {}], ['[]', metadata], ['null', metadata], ['7', metadata], ['{', metadata]]],
  ['a count of 0 or more', toCount(0), [['0', 0], ['123456789', 123_456_789], ['', 'It is a whole number, 0 or more.'], ['1.5', 'It is a whole number, 0 or more.'], ['-1', 'It is a whole number, 0 or more.'], ['1234567890', 'It is a whole number, 0 or more.'], [' 1', 'It is a whole number, 0 or more.'], ['1x', 'It is a whole number, 0 or more.']]],
  ['a count of 2 or more', toCount(2), [['2', 2], ['1', 'It is a whole number, 2 or more.']]],
  ['a transport', (text) => addTransport(text), [
    ['jsonrpc', ['JSONRPC']], ['JSON-RPC', ['JSONRPC']], ['rest', ['HTTP+JSON']], ['http+json', ['HTTP+JSON']], ['grpc , rest', ['GRPC', 'HTTP+JSON']],
    ['fax', transport], ['', transport], ['grpc,', transport],
  ]],
  ['a state', toState, [['input_required', 'TASK_STATE_INPUT_REQUIRED'], ['TASK_STATE_AUTH_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'], ['busy', expect.stringMatching(/^A state is one of submitted, /)]]],
])('%s', (_, read, rows) => {
  it.each(rows)('that is %j is %j', (text, value) => expect(readBy(read)(text)).toEqual(value));
});

it('flags that are given twice add up', () => {
  expect(addTransport('rest', ['GRPC'])).toEqual(['GRPC', 'HTTP+JSON']);
  expect(addServiceParameter('B:2', { a: '1', b: '1' })).toEqual({ a: '1', b: '2' });
});

describe('a reference to a card', () => {
  const card = { name: 'C', supportedInterfaces: [{ url: 'http://a' }] };
  const cards = {
    'card.json': JSON.stringify(card),
    'none.json': '{"supportedInterfaces":[]}',
    'text.json': 'text',
    'list.json': '{"supportedInterfaces":{}}',
    'null.json': 'null',
  };
  /** In the table, the folder of the cards. */
  const here = '/HERE';

  // biome-ignore format: a table reads best with one row per line
  it.each<[reference: string, result: unknown]>([
    ['http://a.example', { url: 'http://a.example' }], ['HTTPS://a.example/x', { url: 'HTTPS://a.example/x' }],
    ['http://', 'http:// is no URL'], ['a.example:99999', 'https://a.example:99999 is no URL'],
    ['a.example', { url: 'https://a.example' }], ['a.example:80', { url: 'https://a.example:80' }], ['a.example/agents/x', { url: 'https://a.example/agents/x' }],
    ['localhost', { url: 'http://localhost' }], ['localhost:4000/x', { url: 'http://localhost:4000/x' }], ['127.0.0.1', { url: 'http://127.0.0.1' }], ['127.1.22.255:80', { url: 'http://127.1.22.255:80' }],
    ['[::1]:4000', { url: 'http://[::1]:4000' }], ['[::2]:4000', { url: 'https://[::2]:4000' }],
    ['localhost.evil.example', { url: 'https://localhost.evil.example' }], ['notlocalhost', { url: 'https://notlocalhost' }], ['127.0.0.1.evil.example', { url: 'https://127.0.0.1.evil.example' }], ['x127.0.0.1', 'https://x127.0.0.1 is no URL'],
    ['/dev/null/such', '/dev/null/such is no host, URL or file'], ['./a.example', './a.example is no host, URL or file'], ['.a', '.a is no host, URL or file'], ['a b', 'a b is no host, URL or file'], ['a.example:x', 'a.example:x is no host, URL or file'], ['ftp://a', 'ftp://a is no host, URL or file'], ['a.example/x y', 'a.example/x y is no host, URL or file'], ['?a', '?a is no host, URL or file'],
    ['card.json', { file: `${here}/card.json`, card }], [`${here}/card.json`, { file: `${here}/card.json`, card }], [String(pathToFileURL(`${here}/card.json`)), { file: `${here}/card.json`, card }],
    ['file://host/x', 'file://host/x is no path'], [`file://${here}/gone.json`, `file://${here}/gone.json cannot be read`], ['folder', 'folder cannot be read'],
    ...['none', 'text', 'list', 'null'].map((name): [string, string] => [`${name}.json`, `${name}.json is no agent card of A2A 1.0`]),
  ])('%s', (reference, result) => {
    const folder = temporaryFolderOf(cards);
    const inFolder = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(here, folder));
    expect(readBy((text) => resolveReference(text, folder))(inFolder(reference))).toEqual(inFolder(result));
  });

  it('that fails has a code', () => {
    const folder = temporaryFolderOf(cards);
    const codeOf = (reference: string) => {
      try {
        resolveReference(reference, folder);
      } catch (error) {
        return [(error as { code: string }).code, (error as Error).cause !== undefined];
      }
      return undefined;
    };
    expect(['http://', '/no', 'file://host/x', 'folder', 'text.json'].map(codeOf)).toEqual([
      ['A2ACLI_ERR_CARD_NOT_FOUND', false],
      ['A2ACLI_ERR_CARD_NOT_FOUND', false],
      ['A2ACLI_ERR_CARD_NOT_FOUND', true],
      ['A2ACLI_ERR_CARD_NOT_FOUND', true],
      ['A2ACLI_ERR_CARD_INVALID', false],
    ]);
  });

  it.each([
    ['http://a.example/x?y', 'http://a.example'],
    ['https://a.example:443/', 'https://a.example'],
    ['a.example:50051', 'a.example:50051'],
    ['grpc://a.example:1', 'grpc://a.example:1'],
    ['', ''],
  ])('%s has the origin %s', (url, origin) => {
    expect(originAt(url)).toBe(origin);
  });
});

describe('kept cards and tokens', () => {
  const cached = (freshUntil: number, etag: string | null) =>
    ({ card: { name: 'C' }, etag, freshUntil }) as never;

  it('are cards of agents that allow it, and those that can be asked whether they changed', () => {
    const home = temporaryFolder();
    const cards = fileCardCache(home);
    expect(cards.get('http://a')).toBeUndefined();
    cards.set('http://a', cached(0, null));
    expect(cards.get('http://a')).toBeUndefined();
    cards.set('http://a', cached(0, 'e'));
    expect(cards.get('http://a')).toEqual({ card: { name: 'C' }, etag: 'e', freshUntil: 0 });
    const later = Date.now() + 60_000;
    cards.set('http://b', cached(later, null));
    expect(cards.get('http://b')).toMatchObject({ freshUntil: later });
    const folder = join(home, '.cache/a2a-cli/cards');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('are none in a home that cannot be written', () => {
    const home = temporaryFolder();
    writeFileSync(join(home, '.cache'), 'a file');
    const cards = fileCardCache(home);
    cards.set('http://a', cached(Date.now() + 60_000, null));
    expect(cards.get('http://a')).toBeUndefined();
  });

  it('are tokens by origin, until they expire, and only their user reads them', () => {
    const home = temporaryFolder();
    expect(tokenFor(home, 'http://a')).toBeUndefined();
    const path = keepToken(home, 'http://a', { accessToken: 'x' });
    expect(path).toBe(join(home, '.config/a2a-cli/tokens.json'));
    const expiresAt = '2030-01-01T00:00:00.000Z';
    keepToken(home, 'http://b', { accessToken: 'y', expiresAt });
    keepToken(home, 'http://b', { accessToken: 'z', expiresAt });
    expect(readFileSync(path, 'utf8')).toBe(
      `${JSON.stringify({ 'http://a': { accessToken: 'x' }, 'http://b': { accessToken: 'z', expiresAt } }, undefined, 2)}\n`,
    );
    expect([statSync(path).mode & 0o777, statSync(join(home, '.config/a2a-cli')).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    expect(tokenFor(home, 'http://a')).toEqual({ accessToken: 'x' });
    const at = Date.parse(expiresAt);
    expect(tokenFor(home, 'http://b', at - 1)).toEqual({ accessToken: 'z', expiresAt });
    expect(tokenFor(home, 'http://b', at)).toBeUndefined();
    expect(tokenFor(home, 'http://c')).toBeUndefined();
  });
});

describe('credentials', () => {
  const schemes = {
    bearer: { httpAuthSecurityScheme: { scheme: 'BEARER' } },
    basic: { httpAuthSecurityScheme: { scheme: 'Basic' } },
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    query: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
    cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'sid' } },
    oauth: { oauth2SecurityScheme: { flows: {} } },
    certificate: { mtlsSecurityScheme: {} },
  };
  const all = { bearer: 'b', apiKey: 'k y' };
  const token = { authorization: 'Bearer b' };
  const cardWith = (names: readonly (keyof typeof schemes)[], required: readonly (readonly string[])[]) =>
    ({
      name: 'C',
      securitySchemes: Object.fromEntries(names.map((name) => [name, schemes[name]])),
      securityRequirements: required.map((each) => ({
        schemes: Object.fromEntries(each.map((name) => [name, { list: [] }])),
      })),
    }) as unknown as AgentCard;

  // biome-ignore format: a table reads best with one row per line
  it.each<[what: string, card: AgentCard, given: GivenCredentials, attached: object | string]>([
    ['none are asked for', { name: 'C' } as AgentCard, {}, { headers: {}, query: {}, isUnused: false }],
    ['none are asked for, and a token is there', { name: 'C' } as AgentCard, { bearer: 'b' }, { headers: {}, query: {}, isUnused: true }],
    ['none are asked for, and a key is there', { name: 'C' } as AgentCard, { apiKey: 'k' }, { headers: {}, query: {}, isUnused: true }],
    ['a token', cardWith(['bearer'], [['bearer']]), all, { headers: token, query: {}, isUnused: false }],
    ['a token of OAuth', cardWith(['oauth'], [['oauth']]), all, { headers: token, query: {}, isUnused: false }],
    ['a key', cardWith(['key'], [['key']]), all, { headers: { 'x-key': 'k y' }, query: {}, isUnused: false }],
    ['a key in the query', cardWith(['query'], [['query']]), all, { headers: {}, query: { key: 'k y' }, isUnused: false }],
    ['a key in a cookie', cardWith(['cookie'], [['cookie']]), all, { headers: { cookie: 'sid=k%20y' }, query: {}, isUnused: false }],
    ['a certificate', cardWith(['certificate'], [['certificate']]), { hasCertificate: true }, { headers: {}, query: {}, isUnused: false }],
    ['no certificate', cardWith(['certificate'], [['certificate']]), {}, 'C requires certificate'],
    ['both', cardWith(['bearer', 'query'], [['bearer', 'query']]), all, { headers: token, query: { key: 'k y' }, isUnused: false }],
    ['one of both is missing', cardWith(['bearer', 'query'], [['bearer', 'query'], ['basic']]), { bearer: 'b' }, 'C requires bearer and query, or basic'],
    ['the first that is met', cardWith(['bearer', 'key'], [['basic'], ['key'], ['bearer']]), all, { headers: { 'x-key': 'k y' }, query: {}, isUnused: false }],
    ['what is offered, and not required', cardWith(['bearer', 'key', 'basic'], []), all, { headers: { ...token, 'x-key': 'k y' }, query: {}, isUnused: false }],
    ['an empty requirement', cardWith(['bearer'], [[]]), all, { headers: {}, query: {}, isUnused: true }],
    ['a password', cardWith(['basic'], [['basic']]), all, 'C requires basic'],
    ['a key, and there is a token', cardWith(['key'], [['key']]), { bearer: 'b' }, 'C requires key'],
    ['a token, and there is a key', cardWith(['oauth'], [['oauth']]), { apiKey: 'k' }, 'C requires oauth'],
    ['a scheme that there is not', cardWith([], [['other']]), all, 'C requires other'],
  ])('go where the card says: %s', (_, card, given, attached) => {
    expect(readBy(() => attach(card, given))('')).toEqual(attached);
  });
});

describe('settings', () => {
  const local = (text: string) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, '.env'), text);
    return cwd;
  };

  it('of other tools, and empty ones, are none; the file above is read then', async () => {
    const above = local('A2ACLI_OUTPUT=json');
    const cwd = join(above, 'a');
    mkdirSync(cwd);
    writeFileSync(join(cwd, '.env'), 'OTHER=x\nXA2ACLI_OUTPUT=text');
    const url = await serveMany();
    expect((await cli(`send -a ${url} hi`, { cwd })).json).toHaveProperty('task');
    expect((await cli(`send -a ${url} hi`, { cwd, env: { A2ACLI_OUTPUT: '' } })).json).toHaveProperty('task');
  });

  it.each([
    ['1', true],
    ['TRUE', true],
    ['yes', true],
    ['0', false],
    ['False', false],
    ['no', false],
    ['xtrue', 'Error: A2ACLI_ASYNC is true or false\n'],
    ['truex', 'Error: A2ACLI_ASYNC is true or false\n'],
    ['xno', 'Error: A2ACLI_ASYNC is true or false\n'],
    ['nox', 'Error: A2ACLI_ASYNC is true or false\n'],
  ])('switch a flag with %s: %s', async (value, result) => {
    const url = await serveMany();
    const { stdout, stderr } = await cli(`send -a ${url} hello`, { env: { A2ACLI_ASYNC: value } });
    if (typeof result === 'string') expect(stderr).toContain(result);
    else expect(stdout.includes('Follow:')).toBe(result);
  });

  it('are refused like flags', async () => {
    const { stderr } = await cli('send -a a.example hi', { env: { A2ACLI_TIMEOUT: '5' } });
    expect(stderr).toContain(`Error: A2ACLI_TIMEOUT: ${duration}\n`);
  });

  it('are shown with their sources', async () => {
    const home = temporaryFolder();
    const file = join(home, 'my.env');
    writeFileSync(
      file,
      'A2ACLI_TIMEOUT=5s\nA2ACLI_BEARER=s3cret\nA2ACLI_TIMEOUT@a.example=6s\nA2ACLI_AGENT_CARD=a.example',
    );
    const { stdout } = await cli(`config show --config ${file}`, { home, env: { A2ACLI_TASK_ID: 't' } });
    expect(stdout).toBe(
      [
        `agent-card: a.example (given file ${file})`,
        `bearer: [redacted] (given file ${file})`,
        `timeout: 6s (given file ${file})`,
        'output: text (default)',
        'poll-interval: 2s (default)',
        'progress: auto (default)',
        'task-id: t (environment)',
        '',
      ].join('\n'),
    );
    const { json } = await cli(`config show --config ${file} -o json`, { home });
    expect(json.settings).toContainEqual({
      name: 'async',
      variable: 'A2ACLI_ASYNC',
      value: null,
      source: 'default',
    });
    const names = json.settings.map(({ name }: { name: string }) => name);
    for (const unsettable of ['config', 'env-file', 'help']) expect(names).not.toContain(unsettable);
    expect(new Set(names).size).toBe(names.length);
    expect(json.settings).toContainEqual({
      name: 'poll-interval',
      variable: 'A2ACLI_POLL_INTERVAL',
      value: '2s',
      source: 'default',
    });
    const [shown] = (
      await cli(`config show --config ${file} -a b.example -o json`, { home })
    ).json.settings.filter(({ name }: { name: string }) => name === 'timeout');
    expect(shown.value).toBe('5s');
    expect((await cli('config show', { home })).stderr).toBe('');
    mkdirSync(join(home, '.config/a2a-cli'), { recursive: true });
    const global = join(home, '.config/a2a-cli/.env');
    writeFileSync(global, '', { mode: 0o604 });
    expect((await cli('config show', { home })).stderr).toBe(
      `Warning: ${global} can be read by other users: chmod 600 ${global}\n`,
    );
  });
});

/** A folder with these files, and a folder in it. */
function temporaryFolderOf(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'folder'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
