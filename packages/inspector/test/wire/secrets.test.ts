import { describe, expect, it } from 'vitest';
import { Secrets, withoutSecrets } from '../../src/wire/secrets.ts';

const none = new URLSearchParams();
const secretsOf = (headers: Record<string, string> = {}, query: URLSearchParams = none) =>
  new Secrets({ headers, query });

describe('the headers of a request', () => {
  const shown = (name: string) => secretsOf().headers({ [name]: 'value' })[name] === 'value';

  it.each([
    ...['host', 'connection', 'user-agent', 'origin', 'cache-control', 'pragma', 'dnt', 'te', 'priority'],
    ...['accept', 'accept-language', 'accept-encoding', 'accept-charset'],
    ...['content-type', 'content-length', 'content-encoding', 'content-language'],
    ...['sec-fetch-mode', 'sec-fetch-site', 'sec-ch-ua', 'sec-ch-ua-platform'],
    ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-request-id'],
    ...['traceparent', 'tracestate', 'a2a-extensions', 'x-a2a-extensions', 'a2a-version'],
    ...['last-event-id', 'if-none-match', 'transfer-encoding', 'upgrade', 'upgrade-insecure-requests'],
    ...['grpc-encoding', 'grpc-accept-encoding', 'grpc-timeout'],
  ])('%s is shown', (name) => expect(shown(name)).toBe(true));

  it.each([
    ...['authorization', 'cookie', 'x-api-key', 'referer', 'x-host', 'hosted', 'accept-token', 'accept-'],
    ...['content-token', 'sec-fetch-', 'sec-fetch-a-token', 'sec-ch-', 'sec-ch-ua!', 'sec-token'],
    ...['x-forwarded-access-token', 'x-forwarded-', 'my-a2a-extensions', 'grpc-token', 'x-priority', 'test'],
    ...['sec-websocket-protocol', 'priority-token'],
  ])('%s is hidden', (name) => expect(shown(name)).toBe(false));

  it('are left out where there is no value, and repeat no other secret', () => {
    const headers = { authorization: 'Bearer a-long-secret', origin: 'http://a.example/a-long-secret' };
    expect(secretsOf(headers).headers({ ...headers, host: undefined })).toEqual({
      authorization: '…',
      origin: 'http://a.example/…',
    });
    // What is no credential is no secret elsewhere, and nothing that is short.
    const harmless = secretsOf({ host: 'agents.example', 'x-mode': 'fast' });
    expect(harmless.json('"agents.example is fast"')).toBe('"agents.example is fast"');
  });

  it('of the scheme Basic hide the name and the password, and the password alone', () => {
    const basic = (pair: string, scheme = 'Basic') =>
      secretsOf({ authorization: `${scheme} ${Buffer.from(pair).toString('base64')}` });
    expect(basic('ada:pass').json('["ada:pass","pass","ada"]')).toBe('["…","…","ada"]');
    expect(basic('ada:pass', 'basic').json('"pass"')).toBe('"…"');
    expect(basic('ada:pas').json('["ada:pas","pas"]')).toBe('["…","pas"]');
    expect(basic('ada:pass', 'Other').json('"pass"')).toBe('"pass"');
    expect(secretsOf({ 'x-a': 'not Basic YWRhOnBhc3M=' }).json('"pass"')).toBe('"pass"');
  });
});

describe('the address of a request', () => {
  const targetOf = (path: string, query: string) => {
    const given = new URLSearchParams(query);
    return secretsOf({}, given).target({ path, query: given });
  };

  it.each([
    ['/tasks', '', '/tasks'],
    ['/tasks', 'pageSize=1&pageToken=a%20b', '/tasks?pageSize=1&pageToken=a%20b'],
    ['/tasks', 'PAGESIZE=1&tenant=t&a2a-version=1.0', '/tasks?PAGESIZE=1&tenant=t&a2a-version=1.0'],
    ['/tasks', 'key=abcd&a%26b=efgh', '/tasks?key=…&a%26b=…'],
    ['/abcd/abc', 'key=abcd&other=abc', '/…/abc?key=…&other=…'],
    ['/a%2Fbc', 'key=a/bc', '/…?key=…'],
    ['/1', 'pageSize=1', '/1?pageSize=1'],
  ])('%s with the query %j is %s', (path, query, shown) => expect(targetOf(path, query)).toBe(shown));
});

describe('a body', () => {
  it.each(
    [
      ...['password', 'passwd', 'passphrase', 'secret', 'credential', 'credentials', 'apiKey', 'api_key'],
      ...['accessKey', 'private-key', 'Authorization', 'cookie', 'signature', 'token', 'accessToken'],
      ...['clientSecret', 'refresh token'],
    ].map((name) => [name]),
  )('has no value of %s', (name) => {
    expect(secretsOf().json(JSON.stringify({ [name]: 'abc', other: 'abc' }))).toBe(
      JSON.stringify({ [name]: '…', other: 'abc' }),
    );
  });

  it.each(['nextPageToken', 'page_token', 'tokens', 'secretary', 'signatures', 'keys', 'text', ''])(
    'has the value of %j',
    (name) => {
      const text = JSON.stringify({ [name]: 'abc' });
      expect(secretsOf().json(text)).toBe(text);
    },
  );

  it.each([
    ['{"token":["abc",["d"],7]}', '{"token":["…",["…"],"…"]}'],
    ['{"token":{"name":"abc","key":"d"}}', '{"token":{"name":"abc","key":"d"}}'],
    ['{"token":"","secret":true,"cookie":null}', '{"token":"","secret":true,"cookie":null}'],
    ['{"token":12}', '{"token":"…"}'],
    ['', ''],
    ['{"a":"Bearer abcdefgh and basic abcd"}', '{"a":"Bearer … and basic abcd"}'],
    [
      '{"a":"digest  12345678, ApiKey k-1_2.3~4, unbearer abcdefgh"}',
      '{"a":"digest …, ApiKey …, unbearer abcdefgh"}',
    ],
    ['{"url":"http://a.example/b?c=1"}', '{"url":"http://a.example/b?…"}'],
    ['{"URI":"http://u:p@a.example/b"}', '{"URI":"http://a.example/b"}'],
    ['{"url":"http://u@a.example/"}', '{"url":"http://a.example/"}'],
    ['{"url":"http://:p@a.example/"}', '{"url":"http://a.example/"}'],
    ['{"url":"http://a.example"}', '{"url":"http://a.example"}'],
    ['{"url":"no url?sig=1#2","uri":"x#y"}', '{"url":"no url","uri":"x"}'],
    ['{"url":7,"myurl":"x?y","urls":"x?y"}', '{"url":7,"myurl":"x?y","urls":"x?y"}'],
  ])('%s is shown as %s', (text, shown) => expect(secretsOf().json(text)).toBe(shown));

  it('that is no JSON is shown where it is the inspector who asked, without the secrets of its headers', () => {
    const secrets = secretsOf({ 'X-Key': 'abcdefgh' });
    expect(secrets.json('abcdefgh <html>')).toBe('…');
    expect(secrets.json('abcdefgh <html>', 'abcdefgh <html>')).toBe('… <html>');
  });

  it('repeats no secret of the request, as it is or in an address, the longer ones first', () => {
    const secrets = secretsOf({ 'x-key': 'abcdefgh', 'x-other': 'abcdefgh-more/than' });
    expect(secrets.json('["abcdefgh","xabcdefgh-more/thanx","abcdefgh-more%2Fthan"]')).toBe(
      '["…","x…x","…"]',
    );
    expect(secrets.path('/abcdefgh')).toBe('/…');
  });

  it('repeats no secret of an earlier body that has eight characters', () => {
    const secrets = secretsOf();
    secrets.json('{"token":"12345678","cookie":"1234567"}');
    expect(secrets.json('["12345678","1234567"]')).toBe('["…","1234567"]');
  });

  it('is not kept with more than a hundred secrets, nor with more than 262,144 characters', () => {
    const withSecrets = (count: number) =>
      secretsOf({}, new URLSearchParams(Array.from({ length: count }, (_, n) => [`k${n}`, `secret${n}`])));
    expect(withSecrets(100).json('"a"')).toBe('"a"');
    expect(withSecrets(101).json('"a"')).toBe('"…"');
    expect(withSecrets(101).headers({ host: 'a' })).toEqual({ host: '…' });
    const quoted = (length: number) => `"${'x'.repeat(length - 2)}"`;
    expect(secretsOf().json(quoted(262_144))).toBe(quoted(262_144));
    expect(secretsOf().json(quoted(262_145))).toBe('…');
  });
});

it.each([
  ['data: {"token":"abc"}\n\n', 'data: {"token":"…"}\n\n'],
  ['data:{"token":"abc"}', 'data:{"token":"…"}'],
  ['{"token":"abc"}\n{"a":1}\n', '{"token":"…"}\n{"a":1}\n'],
  ['id: 7 Bearer abcdefgh\nevent: x\nretry: 5\n: note', 'id: 7 Bearer …\nevent: x\nretry: 5\n: note'],
  ['secret: abc', '…'],
  ['an id: abc', '…'],
  ['data: id: abc', 'data: …'],
])('the lines %j are shown as %j', (text, shown) => expect(secretsOf().lines(text)).toBe(shown));

it.each([
  ['Send it to https://a.example/callbacks/WyJ0IiwxXQ.x-_1~a', 'Send it to https://a.example/callbacks/…'],
  [
    'postgres://ada:secretpw@db:5432/x, http://a.example/@ada',
    'postgres://…@db:5432/x, http://a.example/@ada',
  ],
  ['(https://a.example/f?X-Sig=abc&state=%41b#c)', '(https://a.example/f?X-Sig=…&state=…#c)'],
  ['authorization: basic abcdefgh12', 'authorization: basic …'],
  ['What now? a=b, R&D = x', 'What now? a=b, R&D = x'],
])('a viewer who may only look gets %j as %j, and no member that is a secret', (text, shown) => {
  const long = 'x'.repeat(300_000);
  const given = { text, list: [text], token: 'abcdefghij', url: 'https://u:p@a.example/b?c', long };
  const seen = { text: shown, list: [shown], token: '…', url: 'https://a.example/b?…', long };
  expect(JSON.parse(withoutSecrets(JSON.stringify(given)))).toEqual(seen);
});
