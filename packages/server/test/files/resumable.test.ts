import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { memoryFiles } from '../../../../test/kit/memory-files.ts';
import { large } from './serve-files.ts';
import { serveTwo, serveUploads, typed, version } from './serve-uploads.ts';

const MiB = 1_048_576;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('an upload by tus', () => {
  it('goes on after breaks, also at another process, and its address tells its part', async () => {
    const [one, other] = await serveTwo();
    const bytes = large('0123456789', 9 * MiB);
    const named = `filename ${base64('ä.png')},filetype ${base64('image/png')},more`;
    const { status, url, headers } = await one.begin(bytes.length, { 'upload-metadata': named });
    expect([status, headers.get('tus-resumable'), await one.offsetOf(url)]).toEqual([201, '1.0.0', 0]);
    expect(Date.parse(headers.get('upload-expires')!)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    await one.cut(url, 0, bytes.subarray(0, 8 * MiB + 1_000), bytes.length);
    await expect.poll(() => other.offsetOf(url)).toBeGreaterThanOrEqual(8 * MiB);
    expect((await other.ask('GET', url, {})).status).toBe(409);
    // Of what came after the piece, the broken connection may have kept some a moment later.
    await expect
      .poll(async () => {
        const offset = await other.offsetOf(url);
        const { status, headers } = await other.patch(url, offset, bytes.slice(offset));
        return [status, headers.get('upload-offset')];
      })
      .toEqual([204, `${bytes.length}`]);
    const head = await one.ask('HEAD', url, version);
    expect(Object.fromEntries(head.headers)).toMatchObject({
      'upload-offset': `${bytes.length}`,
      'upload-length': `${bytes.length}`,
      'upload-metadata': named,
      'cache-control': 'no-store',
    });
    const part = JSON.parse((await one.ask('GET', url, {})).text);
    expect(part).toMatchObject({ filename: 'ä.png', mediaType: 'image/png' });
    expect(JSON.parse((await other.ask('GET', url, {})).text).metadata).toEqual(part.metadata);
    const file = await fetch(part.url.replace('http://localhost', one.origin));
    expect(sha256(await file.bytes())).toBe(sha256(bytes));
    // Of the pieces nothing is left.
    expect(await one.keys()).toHaveLength(1);
    expect(await one.offsetOf(url)).toBe(bytes.length);
  });

  it('keeps what came of less than a piece, too', async () => {
    const { begin, offsetOf, server } = await serveUploads();
    const { url } = await begin(9);
    const chunks = ['0123', '45'].map((text) => Buffer.from(text));
    const body = new ReadableStream({
      pull: (controller) =>
        chunks.length > 0 ? controller.enqueue(chunks.shift()) : controller.error(new Error('It broke')),
    });
    const init = { method: 'PATCH', headers: { ...typed, 'upload-offset': '0' }, body, duplex: 'half' };
    await server.fetch(new Request(url, init as RequestInit));
    expect(await offsetOf(url)).toBe(6);
  });

  it('takes one of two requests for an offset, and keeps nothing of the other', async () => {
    const [one, other] = await serveTwo();
    const { url } = await one.begin(8);
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const slow = new ReadableStream({
      async start(controller) {
        controller.enqueue(Buffer.from('late'));
        begun.resolve();
        await promise;
        controller.close();
      },
    });
    const late = one.patch(url, 0, slow);
    await begun.promise;
    expect((await other.patch(url, 0, 'first')).status).toBe(204);
    resolve();
    const refused = await late;
    expect([refused.status, await one.offsetOf(url), (await one.keys()).length]).toEqual([409, 5, 1]);
    await one.patch(url, 5, 'end');
    const parts = await Promise.all([one, other].map(({ ask }) => ask('GET', url, {})));
    const { url: link } = JSON.parse(parts.find(({ status }) => status === 200)!.text);
    expect(await (await fetch(link.replace('http://localhost', one.origin))).text()).toBe('firstend');
  });

  it('is kept in few pieces, however small they are', async () => {
    const { begin, patch, ask, store, origin } = await serveUploads();
    const { url } = await begin(502);
    await patch(url, 0, 'a');
    const recordOf = async () => (await store.listRecords({ prefix: 'upload/', limit: 1 }))[0]!;
    const piecesIn = ({ value }: { readonly value: unknown }) =>
      (value as { readonly pieces: readonly string[] }).pieces;
    const record = await recordOf();
    const pieces = Array(500).fill(piecesIn(record)[0]);
    await store.putRecord(record.name, record.revision, { ...Object(record.value), pieces, offset: 500 });
    for (const letter of 'bc') await patch(url, letter === 'b' ? 500 : 501, letter);
    expect(piecesIn(await recordOf())).toHaveLength(2);
    const { url: link } = JSON.parse((await ask('GET', url, {})).text);
    const text = await (await fetch(link.replace('http://localhost', origin))).text();
    expect(text).toBe(`${'a'.repeat(500)}bc`);
  });

  it('is that of its caller and tenant alone', async () => {
    const { begin, patch, offsetOf, ask } = await serveUploads({
      card: { name: 'T', description: 'T', defaultInputModes: ['*/*'], tenants: ['north', 'south'] },
    });
    const ben = { 'x-caller': 'ben' };
    const { url } = await begin(4, {}, '?tenant=north');
    const south = url.replace('north', 'south');
    const others = [await patch(url, 0, '0123', ben), await ask('DELETE', url, { ...version, ...ben })];
    expect([await offsetOf(south), await offsetOf(url, ben), ...others.map(({ status }) => status)]).toEqual(
      Array(4).fill(404),
    );
    expect((await patch(url, 0, '0123')).status).toBe(204);
    expect([(await ask('GET', url, ben)).status, (await ask('GET', url, {})).status]).toEqual([404, 200]);
  });

  it('ends when it is deleted, and after its time', async () => {
    const time = { ahead: 0 };
    const now = () => Date.now() + time.ahead;
    const { begin, patch, offsetOf, ask, keys } = await serveUploads({
      clock: { now },
      store: memoryStore({ now }),
    });
    const [one, two, whole] = [await begin(8), await begin(8), await begin(4, typed, '', '0123')];
    expect([whole.status, whole.headers.get('upload-offset')]).toEqual([201, '4']);
    await patch(one.url, 0, '0123');
    const overridden = { ...version, 'x-http-method-override': 'DELETE' };
    expect((await ask('POST', one.url, overridden)).status).toBe(204);
    expect([await offsetOf(one.url), (await patch(one.url, 4, '4567')).status]).toEqual([404, 404]);
    expect((await ask('GET', whole.url, {})).status).toBe(200);
    expect([(await ask('DELETE', whole.url, version)).status, await keys()]).toEqual([204, []]);
    time.ahead = 24 * 3_600_000 + 1;
    expect(await offsetOf(two.url)).toBe(404);
  });

  it('is refused with the status of tus, and then nothing of it changes', async () => {
    const options = { card: { name: 'T', description: 'T', defaultInputModes: ['image/*'] } };
    const served = await serveUploads({ ...options, files: { store: memoryFiles(), uploadBytes: 20 } });
    const { begin, patch, offsetOf, ask, at, keys, store } = served;
    const { url } = await begin(9);
    const metadata = (text: string) => begin(1, { 'upload-metadata': text });
    const refusals: [number, string, () => ReturnType<typeof ask>][] = [
      [412, '`Tus-Resumable` must be 1.0.0', () => ask('PATCH', url, { ...typed, 'tus-resumable': '0.2.2' })],
      [412, '`Tus-Resumable` must be 1.0.0', () => ask('DELETE', url, {})],
      [412, '`Tus-Resumable` must be 1.0.0', () => ask('POST', at, { 'upload-length': '1' })],
      [405, 'GET, HEAD, PATCH, DELETE', () => ask('POST', url, version)],
      [405, 'only POST', () => ask('PATCH', at, typed, 'x')],
      [415, 'application/offset+octet-stream', () => patch(url, 0, 'x', { 'content-type': 'text/plain' })],
      [415, 'as they are', () => patch(url, 0, 'x', { 'content-encoding': 'gzip' })],
      [409, '`Upload-Offset` must be 0', () => patch(url, 1, 'x')],
      [409, '`Upload-Offset` must be 0', () => ask('PATCH', url, typed, 'x')],
      [409, '0 of 9 bytes', () => ask('GET', url, {})],
      [413, '9 bytes', () => patch(url, 0, '0123456789')],
      [404, 'no such upload', () => patch(`${at}/${crypto.randomUUID()}`, 0, 'x')],
      [400, '`Upload-Length`', () => begin(1.5)],
      [400, '`Upload-Length`', () => ask('POST', at, version)],
      [400, '`Upload-Length`', () => begin(-1)],
      [413, '20 bytes', () => begin(21)],
      [400, 'Upload-Metadata', () => metadata('a YQ==,a YQ==')],
      [400, 'Upload-Metadata', () => metadata('a Y')],
      [400, 'Upload-Metadata', () => metadata('a b c')],
      [400, 'Upload-Metadata', () => metadata(`a ${'YWFh'.repeat(600)}`)],
      [400, '256 characters', () => metadata(`filename ${base64('a'.repeat(257))}`)],
      [400, '256 characters', () => metadata(`filetype ${base64(`image/${'a'.repeat(251)}`)}`)],
      [415, 'text/html', () => metadata(`filetype ${base64('text/html')}`)],
      [401, '', () => begin(1, { 'x-caller': '' })],
      [401, '', () => patch(url, 0, 'x', { 'x-caller': '' })],
    ];
    for (const [status, sentence, asked] of refusals) {
      const { status: given, text, headers } = await asked();
      expect([given, text]).toEqual([status, expect.stringContaining(sentence)]);
      expect(headers.get('tus-resumable')).toBe('1.0.0');
    }
    expect([await offsetOf(url), await keys()]).toEqual([0, []]);
    const records = await store.listRecords({ prefix: 'upload/', limit: 9 });
    expect(records).toHaveLength(1);
    for (let n = 1; n < 500; n++) await store.putRecord(`${records[0]!.name}-${n}`, 0, {});
    const full = await begin(1);
    expect([full.status, full.text]).toEqual([429, expect.stringContaining('500 uploads')]);
    expect((await begin(1, { 'x-caller': 'ben' })).status).toBe(201);
  });

  it('is refused while the unfinished ones of its caller have too many bytes', async () => {
    const { begin, patch, ask } = await serveUploads({
      publicUrl: 'http://localhost/agent/',
      files: { store: memoryFiles(), unfinishedBytes: 10 },
    });
    const [one, two] = [await begin(6), await begin(4)];
    expect(one.url).toMatch(/^http:\/\/localhost\/agent\/files\//);
    const full = await begin(1);
    expect([one.status, two.status, full.status, full.text]).toEqual([
      ...[201, 201, 429],
      expect.stringContaining('at most 10 bytes'),
    ]);
    expect((await begin(10, { 'x-caller': 'ben' })).status).toBe(201);
    await patch(one.url, 0, '012345');
    expect((await begin(1)).status).toBe(429);
    await ask('GET', one.url, {});
    await ask('DELETE', two.url, version);
    expect([(await begin(10)).status, (await begin(1)).status]).toEqual([201, 429]);
  });

  it('says what it can do, also to pages', async () => {
    const { ask, at, begin } = await serveUploads({ cors: true });
    const offer = await ask('OPTIONS', at, {});
    expect(Object.fromEntries(offer.headers)).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': 'creation,creation-with-upload,expiration,termination',
      'tus-max-size': `${1024 ** 3}`,
    });
    const page = { origin: 'https://app.example' };
    const preflight = await ask('OPTIONS', at, { ...page, 'access-control-request-method': 'PATCH' });
    const names = (headers: Headers, list: string) => headers.get(`access-control-${list}`)?.split(', ');
    expect(names(preflight.headers, 'allow-methods')).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH', 'POST']);
    const tus = ['tus-resumable', 'upload-length', 'upload-metadata', 'upload-offset'];
    expect(names(preflight.headers, 'allow-headers')).toEqual(expect.arrayContaining(tus));
    const { headers } = await begin(5, page);
    const read = [...tus, 'location', 'tus-extension', 'tus-max-size', 'tus-version', 'upload-expires'];
    expect(names(headers, 'expose-headers')).toEqual(expect.arrayContaining(read));
  });
});

it('logs what fails with an upload and a file, and neither address', async () => {
  const lines: string[] = [];
  const logger = (...line: unknown[]) => lines.push(inspect(line, { depth: 9 }));
  const { files, begin, patch, ask, origin } = await serveUploads({ logger });
  const [{ url }, { url: other }] = [await begin(9), await begin(9)];
  await patch(url, 0, '012345678');
  const { url: link } = JSON.parse((await ask('GET', url, {})).text);
  const fails = async () => {
    throw new Error('The disk is full');
  };
  Object.assign(files, { put: fails, get: fails });
  expect((await patch(other, 0, '012345678')).status).toBe(503);
  expect((await fetch(link.replace('http://localhost', origin))).status).toBe(503);
  expect(lines.join()).toContain('The disk is full');
  expect(lines.join()).toContain("path: '/files/…'");
  for (const address of [url, other, link]) expect(lines.join()).not.toContain(address.split('/').at(-1));
});
