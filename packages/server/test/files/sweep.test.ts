import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { folderFiles } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { memoryFiles } from '../../../../test/kit/memory-files.ts';
import { rpc } from '../../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { artifact, completed, file } from '../../src/index.ts';
import { insideOf } from '../../src/operations/call/inside-of.ts';
import { FileSweep } from '../../src/turns/files/file-sweep.ts';
import { bytesAt, large, raw, send, serveFiles, uploaded } from './serve-files.ts';

const hour = 3_600_000;

/** A server whose clock is ahead, what it keeps, and its sweep. */
function swept(options: Parameters<typeof serveFiles>[1] = {}) {
  const time = { ahead: 0 };
  const served = serveFiles(
    async function* () {
      yield artifact('a', file(large('made')));
      yield completed();
    },
    { clock: { now: () => Date.now() + time.ahead }, ...options },
  );
  const { dependencies } = insideOf(served.server)!;
  const sweep = () => new FileSweep(dependencies.options.files!.options, dependencies).round();
  return { ...served, time, sweep };
}

describe('the sweep of files', () => {
  it('deletes those without a task after an hour, and uploads after a day', async () => {
    const { server, store, keys, time, sweep } = swept();
    const parts = [{ raw: raw(large('sent')), mediaType: 'image/png' }];
    const [kept, gone] = [await send(server, parts), await send(server, parts)];
    await uploaded(server, large());
    expect(await keys()).toHaveLength(5);
    await store.erase!(JSON.stringify(['agent', '', 'ana']), gone.id);
    expect(await sweep()).toBe(0);
    time.ahead = hour + 1_000;
    expect(await sweep()).toBe(2);
    expect((await keys()).filter((key) => key.includes(kept.id))).toHaveLength(2);
    time.ahead = 24 * hour + 1_000;
    expect(await sweep()).toBe(1);
    expect(await sweep()).toBe(0);
    expect(await bytesAt(server, kept.artifacts[0].parts[0].url).catch(({ message }) => message)).toMatch(
      /^404/,
    );
    const { artifacts } = await rpc(server, 'GetTask', { id: kept.id }, { 'x-caller': 'ana' });
    expect(await bytesAt(server, artifacts[0].parts[0].url)).toEqual(large('made'));
  });

  it('deletes what came of an upload that was never ended', async () => {
    const { server, keys, time, sweep } = swept();
    const type = 'application/offset+octet-stream';
    const headers = { 'tus-resumable': '1.0.0', 'upload-length': '9', 'content-type': type };
    const init = { method: 'POST', headers, body: '0123' };
    const begun = await server.fetch(new Request('http://localhost/agent/files', init));
    expect(begun.headers.get('upload-offset')).toBe('4');
    time.ahead = 23 * hour;
    expect([await sweep(), await keys()]).toEqual([0, [expect.stringContaining('/uploads/')]]);
    time.ahead = 24 * hour + 1_000;
    expect([await sweep(), await keys()]).toEqual([1, []]);
  });

  it('leaves an upload that ends after it, in a folder that another process sweeps, too', async () => {
    const folder = temporaryFolder();
    const { server, time, sweep, keys } = swept({ files: { store: folderFiles(folder) } });
    const { promise, resolve } = Promise.withResolvers<void>();
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(large('first'));
        await promise;
        controller.enqueue(large('second'));
        controller.close();
      },
    });
    const upload = uploaded(server, body);
    await vi.waitFor(async () => expect((await readdir(folder)).some((name) => name.startsWith('.new-'))));
    time.ahead = 30 * 24 * hour;
    await sweep();
    expect(await keys()).toEqual([]);
    time.ahead = 0;
    resolve();
    const { reply } = await upload;
    expect(await bytesAt(server, reply.url)).toHaveLength(200_000);
    expect(await keys()).toHaveLength(1);
    const { history } = await send(server, [reply]);
    time.ahead = 25 * hour;
    await sweep();
    expect(await keys()).toHaveLength(2);
    time.ahead = 0;
    expect(await bytesAt(server, history[0].parts[0].url)).toHaveLength(200_000);
  });

  it('leaves nothing of tasks that were pruned, and all of the others', async () => {
    const folder = temporaryFolder();
    const { server, store, time, sweep } = swept({ files: { store: folderFiles(folder) } });
    const make = (text: string) => send(server, [{ raw: raw(large(text)), mediaType: 'image/png' }]);
    await make('pruned');
    const closedBefore = new Date(Date.now() + 1).toISOString();
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(closedBefore)));
    await make('kept');
    expect(await store.prune({ closedBefore, limit: 10 })).toBe(1);
    time.ahead = hour + 60_000;
    await sweep();
    const found = await Promise.all(
      (await readdir(folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')),
    );
    expect(
      found
        .map((text) => text.slice(0, 4))
        .filter(Boolean)
        .sort(),
    ).toEqual(['kept', 'made']);
  });

  it('leaves the files of another store of tasks, and says so', async () => {
    const files = memoryFiles();
    const one = swept({ files: { store: files } });
    await send(one.server, [{ text: 'make' }]);
    await one.sweep();
    const logged: unknown[] = [];
    const other = swept({
      files: { store: files },
      store: memoryStore(),
      logger: (...line) => logged.push(line[1]),
    });
    other.time.ahead = 30 * 24 * hour;
    expect(await other.sweep()).toBe(0);
    expect(logged).toContain('The file store has files of other tasks: no files are deleted');
    expect(await one.keys()).toHaveLength(1);
  });

  it('runs by itself', async () => {
    const served = swept({ files: { store: memoryFiles(), sweepMs: 20 } });
    await served.files.put('x.YWdlbnQ/1.W10/uploads/left', (async function* () {})());
    served.time.ahead = 25 * hour;
    await expect.poll(served.keys).toEqual([]);
  });
});
