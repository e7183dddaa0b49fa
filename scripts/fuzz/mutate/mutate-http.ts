import { gzipSync } from 'node:zlib';
import { between, pick } from '../../workload/random.ts';
import type { RawRequest } from '../request.ts';
import { oddText } from './odd-values.ts';

type Headers = RawRequest['headers'];
type Change = (random: () => number, request: RawRequest) => Partial<RawRequest>;

const without = (headers: Headers, name: string): Headers =>
  headers.filter(([other]) => other.toLowerCase() !== name);
const withHeader = (headers: Headers, name: string, value: string): Headers => [
  ...without(headers, name.toLowerCase()),
  [name, value],
];

// biome-ignore format: a table reads best with one row per line
const values: Record<string, readonly string[]> = {
  'content-type': ['', 'text/plain', 'application/json; charset=utf-16', 'application/json;charset="', 'APPLICATION/A2A+JSON ; x=y', 'multipart/form-data', 'application/json, text/html', 'application/x-www-form-urlencoded'],
  'a2a-version': ['', '0.3', '1.0.7', '1.1', '2', '1.0, 1.0', ' 1.0 ', '1.00', '١.٠', '__proto__', '-1.0', '1.0\t'],
  'a2a-extensions': ['', ',,,', 'https://a.example , https://a.example', '__proto__', 'x'.repeat(6_000), 'https://fuzz.example/extension'],
  'x-a2a-extensions': ['https://fuzz.example/extension', ','],
  accept: ['', '*/*', 'text/html', 'application/json;q=0', 'text/event-stream', ',', 'application/json, application/a2a+json;q=0.1', '\\'],
  'accept-encoding': ['gzip', 'identity;q=0', 'br;q=1.0, *;q=0'],
  'content-encoding': ['gzip', 'br', 'deflate', 'identity', 'x-unknown', 'gzip, gzip'],
  'last-event-id': ['', '0', '-1', '1', 'a.b', 'x.999999999', '.', '%00', '1e9', `${'9'.repeat(40)}`, 'x.1.2'],
  'if-none-match': ['*', '""', 'W/"x"', ',', '"'],
  authorization: ['', 'Bearer', 'Bearer x', 'Basic Og==', 'Bearer a b', 'wrong'],
  cookie: ['a=b; c', '=', ';;;;'],
  origin: ['null', 'https://page.example', 'http://[::1]', 'javascript:'],
  host: ['', 'a b', 'example.com:99999', '[::1]', 'host"quote', 'a@b', '-', 'a/b', '[', '%00'],
  connection: ['close', 'keep-alive, x', 'upgrade'],
  upgrade: ['websocket', 'h2c'],
  expect: ['100-continue', 'something'],
  te: ['trailers'],
  'x-forwarded-proto': ['https', 'gopher', 'a,b'],
  'x-forwarded-host': ['evil.example'],
  forwarded: ['for=x;host=y'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'x'],
  'access-control-request-method': ['POST'],
  'x-http-method-override': ['DELETE'],
  range: ['bytes=0-1'],
};

const segments = [
  '', '.', '..', 'tasks', 'tasks:cancel', ':cancel', ':subscribe', 'x:cancel', '%2e%2e', '%', '%zz', '%00', '%ff', '%2F', 'a%2Fb', 'message:send', 'message:stream',
  'extendedAgentCard', '.well-known', 'agent-card.json', 'pushNotificationConfigs', '*', '~', "'", 'a;b=c', 'a+b', '%F0%9F%98%80', 'x'.repeat(600), '__proto__', 'constructor',
]; // biome-ignore format: a list reads best when it is dense

const kinds: Record<string, Change> = {
  'set a header': (random, { headers }) => {
    const [name, several] = pick(random, Object.entries(values));
    const value = random() < 0.8 ? pick(random, several) : printable(oddText(random));
    return { headers: withHeader(headers, name, value), isMangled: name === 'host' || name === 'expect' };
  },
  'take a header away': (random, { headers }) => {
    const name = pick(random, headers)[0].toLowerCase();
    return { headers: without(headers, name), isMangled: name === 'host' };
  },
  'repeat a header': (random, { headers }) => {
    const [name, value] = pick(random, headers);
    const again = random() < 0.5 ? value : pick(random, values[name.toLowerCase()] ?? ['x']);
    return { headers: [...headers, [name, again]], isMangled: name === 'host' };
  },
  'odd bytes in a header': (random, { headers }) => ({
    headers: [
      ...headers,
      [
        pick(random, ['x-odd', 'a2a-version', 'last-event-id', 'é', 'a b', '']),
        oddText(random).slice(0, 200),
      ],
    ],
    isMangled: true,
  }),
  'many headers': (random, { headers }) => ({
    headers: [
      ...headers,
      ...Array.from({ length: pick(random, [50, 500, 3_000]) }, (_, n) => [`x-${n}`, 'y'] as const),
    ],
    isMangled: true,
  }),
  'another method': (random) => {
    const method = pick(random, [
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      'CONNECT',
      'QUERY',
      'get',
      'FOO',
      '',
    ]);
    return { method, isMangled: ['CONNECT', 'get', 'FOO', ''].includes(method) };
  },
  'a segment more': (random, { target }) =>
    changePath(random, target, (parts, at) => parts.splice(at, 0, pick(random, segments))),
  'a segment less': (random, { target }) => changePath(random, target, (parts, at) => parts.splice(at, 1)),
  'another segment': (random, { target }) =>
    changePath(random, target, (parts, at) => parts.splice(at, 1, pick(random, segments))),
  'change a segment': (random, { target }) =>
    changePath(random, target, (parts, at) => {
      const part = parts[at] ?? '';
      const cut = between(random, 0, part.length);
      parts[at] =
        part.slice(0, cut) + encodeURI(oddText(random).toWellFormed()).slice(0, 400) + part.slice(cut);
    }),
  'the card': (random) => ({
    method: pick(random, ['GET', 'HEAD', 'POST', 'DELETE']),
    target: pick(random, [
      '/.well-known/agent-card.json',
      '/a/.well-known/agent-card.json',
      '/%ff/.well-known/agent-card.json',
      '/.well-known/agent-card.json/',
      '//.well-known/agent-card.json',
    ]),
  }),
  'a query': (random, { target }) => {
    const name = pick(random, [
      'historyLength',
      'page_size',
      'pageToken',
      'status',
      'tenant',
      'A2A-Version',
      'a2a-version',
      'includeArtifacts',
      'statusTimestampAfter',
      '__proto__',
      'x',
    ]);
    const value =
      random() < 0.5
        ? encodeURIComponent(oddText(random).toWellFormed())
        : pick(random, ['', '0', '-1', '1.5', '999999999999', 'true', 'TRUE', '%', '%ff', '1.0', 'a&a=b']);
    return { target: `${target}${target.includes('?') ? '&' : '?'}${name}=${value}`.slice(0, 12_000) };
  },
  'an odd target': (random, { target }) => ({
    target: pick(random, [
      '*',
      '',
      target.slice(1),
      `http://other.example${target}`,
      `//other.example${target}`,
      `${target}#x`,
      `${target}?`,
      `${target}\x80`,
      `/é${target}`,
      `${target} x`,
      `\\${target}`,
    ]),
    isMangled: true,
  }),
  'another length': (random, { headers, body }) => ({
    headers: withHeader(
      headers,
      'content-length',
      String(
        pick(random, [0, 1, -1, (body?.length ?? 0) - 1, (body?.length ?? 0) + 5, 1e12, '0x10', '1, 1', '']),
      ),
    ),
    isMangled: true,
  }),
  chunks: (random, { headers, body = Buffer.from('{}') }) => ({
    headers: withHeader(without(headers, 'content-length'), 'transfer-encoding', 'chunked'),
    body: chunked(random, body),
    isMangled: true,
  }),
  compressed: (random, { headers, body = Buffer.from('{}') }) => ({
    headers: withHeader(headers, 'content-encoding', 'gzip'),
    body: random() < 0.7 ? gzipSync(body) : gzipSync(body).subarray(0, -3),
  }),
};

/** Bytes that may stand in a header. */
const printable = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]/g, '?')
    .trim()
    .slice(0, 4_000);

function changePath(
  random: () => number,
  target: string,
  change: (parts: string[], at: number) => void,
): Partial<RawRequest> {
  const [path = '', query] = target.split('?');
  const parts = path.split('/').slice(1);
  change(parts, between(random, 0, Math.max(0, parts.length - 1)));
  return {
    target: `/${parts.join('/')}${query === undefined ? '' : `?${query}`}`.replace(/\s/g, ''),
  };
}

function chunked(random: () => number, body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + between(random, 1, 200));
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
    at += piece.length;
  }
  const end = pick(random, [
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\nx: y\r\n\r\n',
    'zz\r\n',
    '',
    'ffffffffffffffff\r\n',
    '-1\r\n\r\n',
  ]);
  return Buffer.concat([...pieces, Buffer.from(end)]);
}

/** Another request, in its head or in how it is sent. */
export function mutateHttp(random: () => number, request: RawRequest): RawRequest {
  const [name, change] = pick(random, Object.entries(kinds));
  const changed = { ...request, ...change(random, request) };
  return {
    ...changed,
    isMangled: request.isMangled || changed.isMangled,
    changes: [...request.changes, name],
  };
}
