import { createHash, randomBytes } from 'node:crypto';
import { describeFileStore } from '@batonjs/store-conformance';
import { beforeEach, describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { type S3Fault, S3Server } from '../../../test/kit/s3/s3-server.ts';
import { all } from '../../server/test/files/serve-files.ts';
import { type S3FilesOptions, s3Files } from '../src/index.ts';

const MiB = 1_024 * 1_024;

let s3: S3Server;
let options: S3FilesOptions;
beforeEach(async () => {
  s3 = new S3Server();
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  options = { endpoint: `${await listen(s3.server)}/`, bucket: s3.bucket, credentials };
});

describeFileStore('s3Files', () => {
  // Pages are short, so that lists have several.
  s3.pageSize = 2;
  return { files: s3Files(options), second: s3Files({ ...options, region: 'eu-central-1' }) };
});

async function* chunks(bytes: Uint8Array, size = 700_001): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Goes wrong so often, where a request is like this. */
function failing(like: RegExp, times: number, fault: S3Fault): void {
  s3.fault = (request) => (like.test(request) && times-- > 0 ? fault : undefined);
}

describe('files in S3', () => {
  it.each([
    [0, 0],
    [8 * MiB - 1, 0],
    [8 * MiB, 1],
    [8 * MiB + 1, 2],
  ])('keep %i bytes in %i parts', async (size, parts) => {
    const bytes = randomBytes(size);
    const files = s3Files(options);
    await files.put('a/b', chunks(bytes));
    const read = Buffer.concat(await all((await files.get('a/b'))!));
    expect(hash(read)).toBe(hash(bytes));
    expect(await all(files.list('a/'))).toMatchObject([{ key: 'a/b', size }]);
    expect(s3.log.filter((line) => line.includes('partNumber'))).toHaveLength(parts);
    expect(s3.uploads.size).toBe(0);
  });

  it('leave no upload when their source fails after a part', async () => {
    async function* broken() {
      yield randomBytes(9 * MiB);
      throw new Error('The source broke');
    }
    await expect(s3Files(options).put('a/b', broken())).rejects.toThrow('The source broke');
    expect(s3.log.some((line) => line.includes('partNumber=1'))).toBe(true);
    expect([s3.uploads.size, s3.objects.size]).toEqual([0, 0]);
  });

  it.each<[string, RegExp, S3Fault]>([
    ['503', /PUT a\/b/, { status: 503, code: 'SlowDown' }],
    ['500', /partNumber=2/, { status: 500, code: 'InternalError' }],
    ['429', /POST a\/b\?uploadId/, { status: 429, code: 'TooManyRequests' }],
    ['a connection that breaks', /GET a\/b/, 'cut'],
    ['an answer that is lost', /partNumber=1/, 'lost'],
  ])('are stored and read after %s', async (_, like, fault) => {
    const bytes = randomBytes(8 * MiB + 5);
    const files = s3Files(options);
    failing(like, 1, fault);
    await files.put('a/b', chunks(bytes));
    expect(hash(Buffer.concat(await all((await files.get('a/b'))!)))).toBe(hash(bytes));
  });

  it.each<[string, RegExp, S3Fault, string]>([
    ['503 without end', /PUT/, { status: 503, code: 'SlowDown' }, '503: SlowDown'],
    // Its status is that of a success.
    [
      'an error at the end',
      /POST a\/b\?uploadId/,
      { status: 200, code: 'InternalError' },
      '200: InternalError',
    ],
    ['a slow service', /partNumber=2/, 'hang', 'S3 did not answer in time'],
    [
      'bytes that were changed on their way',
      /PUT/,
      { status: 400, code: 'XAmzContentSHA256Mismatch' },
      '400: XAmz',
    ],
  ])('are not there after %s', async (_, like, fault, message) => {
    const files = s3Files(fault === 'hang' ? { ...options, timeoutMs: 300 } : options);
    failing(like, 1_000, fault);
    await expect(files.put('a/b', chunks(randomBytes(8 * MiB + 5)))).rejects.toThrow(message);
    s3.fault = () => undefined;
    expect(await files.get('a/b')).toBeUndefined();
    expect(s3.uploads.size).toBe(0);
  });

  it('need a bucket and keys that are right, and say what is wrong without the secret', async () => {
    const wrong: [Partial<S3FilesOptions>, string][] = [
      [{ bucket: 'none' }, 'NoSuchBucket'],
      [{ credentials: { accessKeyId: 'none', secretAccessKey: 'hidden' } }, 'InvalidAccessKeyId'],
      [
        { credentials: async () => ({ accessKeyId: 'id', secretAccessKey: 'hidden' }) },
        'SignatureDoesNotMatch',
      ],
    ];
    for (const [more, code] of wrong) {
      const files = s3Files({ ...options, ...more });
      const works = {
        put: () => files.put('a', chunks(randomBytes(5))),
        get: () => files.get('a'),
        range: () => files.get('a', { start: 0, end: 0 }),
        list: () => all(files.list('')),
        delete: () => files.delete('a'),
      };
      for (const work of Object.values(works)) {
        const error = await work().then(
          () => 'It worked',
          ({ message }: Error) => message,
        );
        expect(error).toContain(code);
        expect(error).not.toContain('hidden');
      }
    }
    expect(() => s3Files({ ...options, endpoint: 's3' })).toThrow(TypeError);
  });

  it('are asked for with the credentials of the moment', async () => {
    let n = 0;
    s3.keys.second = 'other';
    const pairs = [
      { accessKeyId: 'id', secretAccessKey: 'secret' },
      { accessKeyId: 'second', secretAccessKey: 'other', sessionToken: 'token' },
    ] as const;
    const files = s3Files({ ...options, credentials: () => pairs[n++ % 2]! });
    for (let times = 0; times < 4; times++) await files.put(`a/${times}`, chunks(randomBytes(5)));
    expect(s3.objects.size).toBe(4);
  });

  it('that are too large to be copied are read and stored', async () => {
    s3.copyBytes = 3;
    const files = s3Files(options);
    await files.put('a', chunks(Buffer.from('four')));
    expect([await files.copy!('a', 'b'), await files.copy!('none', 'c')]).toEqual([true, false]);
    expect(s3.objects.get('b')?.bytes.toString()).toBe('four');
  });

  it('break off their answer when a reader leaves', async () => {
    const files = s3Files(options);
    await files.put('a', chunks(randomBytes(7 * MiB)));
    for await (const _ of (await files.get('a'))!) break;
    await expect
      .poll(() => new Promise((resolve) => s3.server.getConnections((_, count) => resolve(count))))
      .toBe(0);
  });
});
