import { s3Files } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { rpc } from '../../../../test/kit/rpc.ts';
import { S3Server } from '../../../../test/kit/s3/s3-server.ts';
import { artifact, completed } from '../../src/index.ts';
import { bytesAt, fetched, large, raw, send, serveFiles, uploaded } from './serve-files.ts';

/** An agent that gives back what it gets, and the S3 that has its files. */
async function serveOnS3() {
  const s3 = new S3Server();
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const store = s3Files({ endpoint: await listen(s3.server), bucket: s3.bucket, credentials });
  const served = serveFiles(
    async function* ({ message, file, saveFile }) {
      for (const [n, part] of message.parts.entries())
        yield artifact(`${n}`, await saveFile(file(part).stream()));
      yield completed();
    },
    { files: { store } },
  );
  return { ...served, s3 };
}

describe('an agent whose files are in S3', () => {
  it('takes and gives them, also in parts', async () => {
    const { server, keys } = await serveOnS3();
    const bytes = large('0123456789', 9_000_000);
    const { reply } = await uploaded(server, bytes);
    const { artifacts } = await send(server, [reply, { raw: raw(large('small')) }]);
    const { url } = artifacts[0].parts[0];
    expect(Buffer.compare(await bytesAt(server, url), bytes)).toBe(0);
    const part = await fetched(server, url, { headers: { range: 'bytes=8388600-8388619' } });
    expect([part.status, await part.text()]).toEqual([206, '01234567890123456789']);
    expect((await fetched(server, url, { method: 'HEAD' })).headers.get('content-length')).toBe('9000000');
    // The upload, its copy for the task, the other file that was sent, and both that the agent gave.
    expect(await keys()).toHaveLength(5);
  });

  it('refuses messages while S3 is away, is not ready, and loses nothing', async () => {
    const { server, s3, keys } = await serveOnS3();
    const sent = [{ raw: raw(large()) }];
    const { artifacts } = await send(server, sent);
    const before = await keys();
    expect(await server.ready()).toBe(true);
    s3.fault = () => ({ status: 503, code: 'ServiceUnavailable' });
    await expect(send(server, sent)).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect((await uploaded(server, large())).reply.error).toMatchObject({ code: 503 });
    expect((await fetched(server, artifacts[0].parts[0].url)).status).toBe(503);
    await expect
      .poll(server.readiness)
      .toMatchObject({ isReady: false, reason: 'failing', message: 'Files cannot be reached now' });
    s3.fault = () => undefined;
    await expect.poll(server.ready).toBe(true);
    expect(await keys()).toEqual(before);
    expect((await rpc(server, 'ListTasks', {}, { 'x-caller': 'ana' })).tasks).toHaveLength(1);
    expect(await bytesAt(server, artifacts[0].parts[0].url)).toEqual(large());
  });
});
