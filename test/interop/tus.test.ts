import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort, node, run } from '../kit/processes.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';

const MiB = 1_048_576;

/** A server in a process of its own, which can be killed and started again at the same place. */
async function serveProcess() {
  const folder = temporaryFolder();
  const path = join(folder, 'film.mp4');
  writeFileSync(path, bytes);
  const port = await freePort();
  const start = async () => {
    const args = ['--conditions=@batonjs/source', 'test/interop/tus-server.ts', folder, `${port}`];
    const server = run(node, args);
    onTestFinished(() => server[Symbol.asyncDispose]());
    await server.until(/ready/);
    return server;
  };
  let server = await start();
  const origin = `http://127.0.0.1:${port}`;
  const restart = async () => {
    server.signal('SIGKILL');
    await server.ended;
    server = await start();
  };
  /** What the agent says of the file of an upload. */
  const hashOf = async (url: string) => {
    const part = await (await fetch(url)).json();
    const agent = await connect(origin);
    const { task } = await agent.send([part]);
    return task?.status.message?.parts;
  };
  return { path, origin, restart, hashOf };
}

const bytes = randomBytes(30 * MiB);
const sha256 = createHash('sha256').update(bytes).digest('hex');

describe('a server that is killed while a file comes', { timeout: 120_000 }, () => {
  it('gets the rest from `tus-js-client`', async () => {
    const { path, origin, restart, hashOf } = await serveProcess();
    await using client = run(node, ['test/interop/tus-client.ts', `${origin}/files`, path]);
    await client.until(/sent 2[0-9] MiB/);
    await restart();
    const output = await client.until(/done \S+\n/);
    const offset = Number(/goes on at (\d+)/.exec(output)?.[1]);
    expect(offset).toBeGreaterThanOrEqual(8 * MiB);
    expect(offset).toBeLessThan(bytes.length);
    expect(await hashOf(/done (\S+)/.exec(output)?.[1] ?? '')).toEqual([{ text: sha256 }]);
  });

  it('gets the rest from curl', async () => {
    const { path, origin, restart, hashOf } = await serveProcess();
    const curl = async (...args: string[]) => {
      const asked = run('curl', ['-sS', '-i', '-H', 'Tus-Resumable: 1.0.0', ...args]);
      return { asked, ended: await asked.ended, text: asked.output };
    };
    const header = (text: string, name: string) =>
      new RegExp(`^${name}: (.*?)\r?$`, 'im').exec(text)?.[1] ?? '';
    const begun = await curl('-X', 'POST', '-H', `Upload-Length: ${bytes.length}`, `${origin}/files`);
    const url = header(begun.text, 'Location');
    const offset = async () => header((await curl('-I', url)).text, 'Upload-Offset');
    const type = 'Content-Type: application/offset+octet-stream';
    const patch = (from: string, file: string, ...more: string[]) =>
      curl(
        '-X',
        'PATCH',
        '-H',
        type,
        '-H',
        `Upload-Offset: ${from}`,
        '-H',
        'Expect:',
        '-T',
        file,
        ...more,
        url,
      );
    const first = patch('0', path, '--limit-rate', '12M');
    await expect.poll(async () => Number(await offset())).toBeGreaterThanOrEqual(8 * MiB);
    await restart();
    expect((await first).ended).not.toBe(0);
    const from = await offset();
    expect(Number(from)).toBeLessThan(bytes.length);
    writeFileSync(`${path}.rest`, bytes.subarray(Number(from)));
    expect((await patch(from, `${path}.rest`)).text).toMatch(/^HTTP\/1.1 204/);
    expect(await offset()).toBe(`${bytes.length}`);
    expect(await hashOf(url)).toEqual([{ text: sha256 }]);
  });
});
