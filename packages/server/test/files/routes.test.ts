import { describe, expect, it } from 'vitest';
import { artifact, completed } from '../../src/index.ts';
import { bytesAt, fetched, large, send, serveFiles, uploaded } from './serve-files.ts';

/** A server with one file, and the link to it. */
async function linked(
  about: { filename?: string; mediaType?: string } = {},
  bytes = large('0123456789', 200),
) {
  const served = serveFiles(async function* ({ saveFile }) {
    yield artifact('a', await saveFile(bytes, about));
    yield completed();
  });
  const { artifacts } = await send(served.server, [{ text: 'make' }]);
  const url: string = artifacts[0].parts[0].url;
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    fetched(served.server, url, { method, headers });
  return { ...served, url, get, bytes };
}

describe('a download', () => {
  it.each([
    ['bytes=0-0', '0-0'],
    ['bytes=10-19', '10-19'],
    ['bytes=190-', '190-199'],
    ['bytes=-5', '195-199'],
    ['bytes=-500', '0-199'],
    ['bytes=150-9999', '150-199'],
  ])('has the range %s', async (range, answered) => {
    const { get, bytes } = await linked();
    const response = await get({ range });
    const [first, last] = answered.split('-').map(Number) as [number, number];
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${answered}/200`);
    expect(response.headers.get('content-length')).toBe(String(last - first + 1));
    expect(Buffer.from(await response.bytes())).toEqual(Buffer.from(bytes.slice(first, last + 1)));
  });

  it.each(['bytes=200-', 'bytes=-0', 'bytes=900-901'])('has no range %s', async (range) => {
    const response = await (await linked()).get({ range });
    expect([response.status, response.headers.get('content-range')]).toEqual([416, 'bytes */200']);
  });

  it.each(['bytes=5-2', 'bytes=0-1,4-5', 'lines=1-2', 'bytes=-', 'bytes=a-b'])(
    'is whole for %s',
    async (range) => {
      const response = await (await linked()).get({ range });
      expect([response.status, (await response.bytes()).length]).toEqual([200, 200]);
    },
  );

  it('is compared by its tag', async () => {
    const { get } = await linked();
    const etag = (await get()).headers.get('etag')!;
    expect(etag).toMatch(/^"[\da-f]{64}"$/);
    expect((await get({ 'if-none-match': `"x", ${etag}` })).status).toBe(304);
    expect((await get({ 'if-none-match': '"x"' })).status).toBe(200);
    expect((await get({ range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
    expect((await get({ range: 'bytes=0-1', 'if-range': '"x"' })).status).toBe(200);
    const head = await get({ range: 'bytes=0-1' }, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '200', '']);
  });

  it.each([
    ['a.png', 'image/png', 'image/png', `inline; filename="a.png"; filename*=UTF-8''a.png`],
    [
      'a.txt',
      'Text/Plain; charset=latin1',
      'text/plain; charset=utf-8',
      `inline; filename="a.txt"; filename*=UTF-8''a.txt`,
    ],
    [
      'a.html',
      'text/html',
      'application/octet-stream',
      `attachment; filename="a.html"; filename*=UTF-8''a.html`,
    ],
    [
      'a.svg',
      'image/svg+xml',
      'application/octet-stream',
      `attachment; filename="a.svg"; filename*=UTF-8''a.svg`,
    ],
    ['a.csv', 'text/csv', 'text/csv', `attachment; filename="a.csv"; filename*=UTF-8''a.csv`],
    [
      '"naïve\r\n../x%\'.txt',
      'a/b\r\nset-cookie: c',
      'application/octet-stream',
      `attachment; filename="_na_ve__.._x_'.txt"; filename*=UTF-8''%22na%C3%AFve__.._x%25%27.txt`,
    ],
    ['', '', 'application/octet-stream', 'attachment'],
  ])('runs nowhere and has its name: %j of %j', async (filename, mediaType, type, disposition) => {
    const { headers } = await (await linked({ filename, mediaType })).get();
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-disposition')).toBe(disposition);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-store, no-transform',
      'accept-ranges': 'bytes',
    });
    expect(headers.has('set-cookie')).toBe(false);
  });

  it('needs a link of this server that has not expired, and a file that is there', async () => {
    const { url, get, files, keys, server } = await linked();
    expect((await get({}, 'PUT')).status).toBe(405);
    const token = url.slice(url.lastIndexOf('/') + 1);
    const read = JSON.parse(Buffer.from(token, 'base64url').toString());
    const forged = (n: number, value: unknown) =>
      `http://localhost/agent/files/${Buffer.from(JSON.stringify(read.with(n, value))).toString('base64url')}`;
    for (const [n, value] of [
      [0, `${read[0]}x`],
      [1, 5],
      [3, 'text/html'],
      [5, read[5] + 1],
      [6, 'x'],
      [6, 1],
    ] as const)
      expect((await fetched(server, forged(n, value))).status).toBe(404);
    expect((await fetched(server, `${url}AA`)).status).toBe(404);
    for (const key of await keys()) await files.delete(key);
    expect((await get()).status).toBe(404);
  });

  it('ends with its time, and each read makes a new link', async () => {
    let now = Date.now();
    const { server } = serveFiles(
      async function* ({ saveFile }) {
        yield completed(await saveFile(large()));
      },
      { clock: { now: () => now }, files: { store: undefined as never, linkMs: 1_000 } },
    );
    const task = await send(server, [{ text: 'make' }]);
    const { url } = task.status.message.parts[0];
    expect((await fetched(server, url)).status).toBe(200);
    now += 2_001;
    expect((await fetched(server, url)).status).toBe(404);
  });
});

describe('an upload', () => {
  const seen: unknown[] = [];
  const serveUploads = (options = {}) =>
    serveFiles(async function* (turn) {
      const file = turn.file(turn.message.parts[0]!);
      seen.push([
        file.filename,
        file.mediaType,
        file.size,
        Buffer.from(await file.bytes()).toString('latin1', 0, 3),
      ]);
      yield completed();
    }, options);

  it('is a part to send, as often as wanted', async () => {
    const { server, keys } = serveUploads();
    const query = '?filename=a%20b.txt&mediaType=text/plain';
    const { status, reply } = await uploaded(server, large('abc', 300_000), { query });
    expect([status, reply]).toEqual([
      201,
      expect.objectContaining({ filename: 'a b.txt', mediaType: 'text/plain' }),
    ]);
    expect(await bytesAt(server, reply.url)).toEqual(large('abc', 300_000));
    const ids = [(await send(server, [reply])).id, (await send(server, [reply])).id];
    expect(seen.splice(0)).toEqual(ids.map(() => ['a b.txt', 'text/plain', 300_000, 'abc']));
    expect(await keys()).toHaveLength(3);
  });

  it('is refused with its reason, and nothing of it is kept', async () => {
    const { server, keys } = serveUploads({
      authenticate: ({ headers }: { headers: Record<string, string> }) => {
        if (!headers['x-caller']) throw Object.assign(new Error('no'), { name: 'A2AError' });
        return { scope: headers['x-caller'] };
      },
      card: { name: 'Test', description: 'For tests', defaultInputModes: ['image/*'], tenants: ['north'] },
      files: { store: undefined, uploadBytes: 1_000 },
    });
    const as = (name: string, more: RequestInit & { query?: string } = {}) => ({
      ...more,
      headers: { 'x-caller': name, ...more.headers },
    });
    const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(large('x', 600)) });
    const broken = () => new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    expect(
      (await uploaded(server, large('x', 1_001), as('ana', { headers: { 'content-length': '1001' } })))
        .status,
    ).toBe(413);
    expect((await uploaded(server, endless(), as('ana'))).reply.error.message).toBe(
      'The file is larger than 1000 bytes',
    );
    expect((await uploaded(server, broken(), as('ana'))).reply.error.message).toBe(
      'The body ended too early',
    );
    expect(
      (await uploaded(server, large('x', 9), as('ana', { query: '?mediaType=text/html' }))).reply.error,
    ).toMatchObject({ code: 415, message: expect.stringContaining('this agent reads image/*') });
    expect(
      (await uploaded(server, large('x', 9), as('ana', { headers: { 'content-length': '10' } }))).status,
    ).toBe(400);
    expect(
      (await uploaded(server, large('x', 9), as('ana', { headers: { 'content-encoding': 'gzip' } }))).status,
    ).toBe(415);
    expect((await uploaded(server, large('x', 9), as('ana', { query: '?tenant=south' }))).status).toBe(404);
    expect(
      (await uploaded(server, large('x', 9), as('ana', { query: `?filename=${'a'.repeat(257)}` }))).status,
    ).toBe(400);
    expect((await uploaded(server, large('x', 9))).status).toBeGreaterThan(399);
    expect((await fetched(server, 'http://localhost/agent/files')).status).toBe(405);
    expect(await keys()).toEqual([]);
  });
});
