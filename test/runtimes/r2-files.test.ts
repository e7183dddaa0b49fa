import { createHash, randomBytes } from 'node:crypto';
import { connect } from '@batonjs/client';
import { describeFileStore } from '@batonjs/store-conformance';
import { type R2Binding, r2Files } from '@batonjs/store-sqlite/durable-object';
import { beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../kit/processes.ts';
import { bucketsInWorkerd, serveInWorkerd } from './workerd.ts';

const MiB = 1_024 * 1_024;

let bucket: R2Binding;
const another = bucketsInWorkerd(24);
beforeEach(async () => {
  bucket = await another();
});

describeFileStore('r2Files', () => ({ files: r2Files(bucket), second: r2Files(bucket) }));

describe('files in R2', () => {
  it.each([0, 1, 8 * MiB - 1, 8 * MiB, 8 * MiB + 1, 16 * MiB, 17 * MiB])('keep %i bytes', async (size) => {
    const bytes = randomBytes(size);
    const files = r2Files(bucket);
    async function* inChunks() {
      // One buffer for all of them, as some sources have.
      const chunk = new Uint8Array(700_001);
      for (let at = 0; at < size; at += chunk.length) {
        chunk.set(bytes.subarray(at, at + chunk.length));
        yield chunk.subarray(0, Math.min(chunk.length, size - at));
      }
    }
    await files.put('a/b', inChunks());
    const hash = createHash('sha256');
    for await (const chunk of (await files.get('a/b'))!) hash.update(chunk);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('whose source fails after a part leave no upload', async () => {
    const uploads: Awaited<ReturnType<R2Binding['createMultipartUpload']>>[] = [];
    const createMultipartUpload: R2Binding['createMultipartUpload'] = async (key) => {
      const upload = await bucket.createMultipartUpload(key);
      uploads.push(upload);
      return upload;
    };
    async function* broken() {
      yield randomBytes(9 * MiB);
      throw new Error('The source broke');
    }
    const files = r2Files({ createMultipartUpload } as unknown as R2Binding);
    await expect(files.put('a/b', broken())).rejects.toThrow('The source broke');
    expect(uploads).toHaveLength(1);
    await expect(uploads[0]!.complete([])).rejects.toThrow(/does not exist/);
  });

  it('that are many are listed in pages', async () => {
    const files = r2Files(bucket);
    // A thousand connections at once are reset.
    for (let n = 0; n < 1_050; n += 50)
      await Promise.all(Array.from({ length: 50 }, (_, m) => bucket.put(`many/${n + m}`, new Uint8Array())));
    const listed = new Set<string>();
    for await (const { key } of files.list('many/')) listed.add(key);
    expect(listed.size).toBe(1_050);
  });

  it('go through an agent in a Durable Object, up and down', async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    await serveInWorkerd(new URL('./files-worker.ts', import.meta.url), { port, publicUrl });
    const agent = await connect(publicUrl);
    const bytes = randomBytes(9 * MiB);
    const { task } = await agent.send([await agent.upload(new Blob([bytes]), { filename: 'one.bin' })]);
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    const given = Buffer.from(
      await (await fetch((task!.artifacts![0]!.parts[0] as { url: string }).url)).arrayBuffer(),
    );
    expect(given.equals(Buffer.concat([bytes, bytes]))).toBe(true);
  });

  it('come by tus to a Durable Object, in two pieces, also after a wrong offset', async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    await serveInWorkerd(new URL('./files-worker.ts', import.meta.url), { port, publicUrl });
    const version = { 'tus-resumable': '1.0.0' };
    const headers = { ...version, 'upload-length': '8' };
    const url = (await fetch(`${publicUrl}/files`, { method: 'POST', headers })).headers.get('location')!;
    const patch = async (offset: number, body: string) => {
      const typed = { ...version, 'content-type': 'application/offset+octet-stream' };
      const init = { method: 'PATCH', headers: { ...typed, 'upload-offset': `${offset}` }, body };
      const { status, headers } = await fetch(url, init);
      return [status, headers.get('upload-offset')];
    };
    expect([await patch(0, '0123'), await patch(0, '0123'), await patch(4, '4567')]).toEqual([
      [204, '4'],
      [409, '4'],
      [204, '8'],
    ]);
    const { url: link } = (await (await fetch(url)).json()) as { url: string };
    expect(await (await fetch(link)).text()).toBe('01234567');
    expect((await fetch(url, { method: 'DELETE', headers: version })).status).toBe(204);
    expect((await fetch(url, { method: 'HEAD', headers: version })).status).toBe(404);
  });
});
