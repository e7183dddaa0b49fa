import { join } from 'node:path';
import { folderFiles, s3Files } from '@batonjs/server-node';
import type { TaskStore } from '@batonjs/store';
import type { FileStore } from '@batonjs/store/files';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { type MountName, roads } from '../../../../test/kit/http/mounts.ts';
import { listen } from '../../../../test/kit/listen.ts';
import { S3Server } from '../../../../test/kit/s3/s3-server.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { postgresForTests } from '../../../../test/support/postgres.ts';
import { redisForTests } from '../../../../test/support/redis.ts';
import { large } from './serve-files.ts';
import { serveTwo, serveUploads, version } from './serve-uploads.ts';

const [redis, postgres] = await Promise.all([redisForTests(), postgresForTests()]);

/** Opens one store, as often as it is called. */
const stores: Readonly<Record<string, (at: string) => TaskStore>> = {
  SQLite: (at) => sqliteStore(join(at, 'tasks.db')),
  ...(redis && { Redis: (at) => redisStore({ url: redis.url, prefix: at.replaceAll(/\W/g, '-') }) }),
  ...(postgres && {
    PostgreSQL: (at) => postgresStore(postgres.url, { schema: at.slice(-40), connections: 3 }),
  }),
};

async function filesIn(kind: string, at: string): Promise<FileStore> {
  if (kind === 'a folder') return folderFiles(join(at, 'files'));
  const s3 = new S3Server();
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  return s3Files({ endpoint: await listen(s3.server), bucket: s3.bucket, credentials });
}

const places: readonly [store: string, files: string, mount: MountName][] = [
  ['SQLite', 'a folder', 'Express'],
  ['SQLite', 'S3', 'Hono on web standards'],
  ['Redis', 'S3', 'Express'],
  ['PostgreSQL', 'S3', 'Hono'],
  ['PostgreSQL', 'a folder', 'Fastify'],
];

it.each(places.filter(([store]) => store in stores))(
  'an upload by tus to records in %s and files in %s, through %s, goes on in another process',
  async (kind, files, mount) => {
    const at = temporaryFolder();
    const options = { files: { store: await filesIn(files, at) } };
    const through = roads.find(([name]) => name === mount)![1];
    const serveOne = () => serveUploads({ ...options, store: closedAfterTest(stores[kind]!(at)) }, through);
    const [one, other] = [await serveOne(), await serveOne()];
    const bytes = large('0123456789', 30);
    const { status, url } = await one.begin(bytes.length);
    expect([status, await other.offsetOf(url)]).toEqual([201, 0]);
    expect((await one.patch(url, 0, bytes.slice(0, 10))).status).toBe(204);
    await other.cut(url, 10, bytes.subarray(10, 20), 20);
    expect((await one.patch(url, 5, bytes.slice(5))).status).toBe(409);
    // What came before the break may be kept a moment later, or not at all.
    await expect
      .poll(async () => {
        const offset = await one.offsetOf(url);
        expect([10, 20]).toContain(offset);
        const { status, headers } = await other.patch(url, offset, bytes.slice(offset));
        return [status, headers.get('upload-offset')];
      })
      .toEqual([204, '30']);
    const part = JSON.parse((await one.ask('GET', url, {})).text);
    const file = await fetch(part.url.replace('http://localhost', other.origin));
    expect(Buffer.from(await file.arrayBuffer())).toEqual(Buffer.from(bytes));
    expect(await one.keys()).toHaveLength(1);
    expect((await other.ask('DELETE', url, version)).status).toBe(204);
    expect([await one.offsetOf(url), await one.keys()]).toEqual([404, []]);
  },
);

it.each([60_000, 0])(
  'a server that closes in the middle of a PATCH keeps what it said it has: %d ms',
  async (graceMs) => {
    const [one, other] = await serveTwo();
    const bytes = large('0123456789', 9 * 1_048_576);
    const { url } = await one.begin(bytes.length);
    const closing = Promise.withResolvers<void>();
    const slow = new ReadableStream({
      async start(controller) {
        controller.enqueue(bytes.slice(0, 8_500_000));
        await closing.promise;
        controller.enqueue(bytes.slice(8_500_000));
        controller.close();
      },
    });
    const late = one.patch(url, 0, slow).catch(() => undefined);
    await expect.poll(() => other.offsetOf(url)).toBe(8_388_608);
    const closed = one.server.close({ graceMs });
    closing.resolve();
    const answered = await late;
    await closed;
    const said = Number(answered?.headers.get('upload-offset') ?? 8_388_608);
    await expect
      .poll(async () => {
        const offset = await other.offsetOf(url);
        expect(offset).toBeGreaterThanOrEqual(said);
        return (await other.patch(url, offset, bytes.slice(offset))).status;
      })
      .toBe(204);
    const { url: link } = JSON.parse((await other.ask('GET', url, {})).text);
    const file = await fetch(link.replace('http://localhost', other.origin));
    expect(Buffer.compare(Buffer.from(await file.arrayBuffer()), bytes)).toBe(0);
  },
);
