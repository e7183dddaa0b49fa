import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { completed, createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryFiles } from '../../../../test/kit/memory-files.ts';
import { freePort } from '../../../../test/kit/processes.ts';
import { fileAt } from '../../src/connection/http.ts';
import { connect } from '../../src/index.ts';

const MiB = 1_048_576;
const bytes = Buffer.alloc(9 * MiB, 'content ');

/** A server that may go away with all its connections, and come back. `seen` has the requests for uploads. */
async function serveAgain() {
  const [port, store, files] = [await freePort(), memoryStore(), memoryFiles()];
  const publicUrl = `http://127.0.0.1:${port}`;
  const seen: string[] = [];
  const open = async () => {
    const server = createAgentServer({
      card: { name: 'Test', description: 'For tests', defaultInputModes: ['*/*'] },
      async *agent({ message, file }) {
        const whole = await file(message.parts[0]!).bytes();
        yield completed(`${Buffer.from(whole).equals(bytes)} ${message.parts[0]?.filename}`);
      },
      store,
      publicUrl,
      files: { store: files },
      logger: () => {},
    });
    const handle = nodeHandler(server);
    const http = createServer((request, response) => {
      if (request.url?.startsWith('/files'))
        seen.push(`${request.method} ${request.headers['upload-offset'] ?? ''}`);
      handle(request, response);
    });
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    const close = async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await server.close({ graceMs: 0 });
    };
    onTestFinished(close);
    return close;
  };
  return { publicUrl, seen, open, files };
}

describe('an upload of a large file', () => {
  it('goes on when the agent is there again, and after the call was left', async () => {
    const { publicUrl, seen, open } = await serveAgain();
    let close = await open();
    const agent = await connect(publicUrl);
    let away: Promise<void> | undefined;
    const part = await agent.upload(new File([bytes], 'a.bin'), {
      onProgress: (sent) => {
        if (sent > 0 && sent < bytes.length)
          away ??= close().then(async () => {
            close = await open();
          });
      },
    });
    await away;
    expect(seen.filter((line) => line.startsWith('POST'))).toHaveLength(1);
    expect(seen).toContain('HEAD ');
    expect(seen.at(-1)).toBe('GET ');
    const { task } = await agent.send([part]);
    expect(task?.status.message?.parts).toEqual([{ text: 'true a.bin' }]);

    const stop = new AbortController();
    let address = '';
    const left = agent.upload(new Blob([bytes]), {
      signal: stop.signal,
      onBegun: (begun) => {
        address = begun;
      },
      onProgress: (sent) => sent > 0 && stop.abort(),
    });
    await expect(left).rejects.toMatchObject({ code: 'ABORTED' });
    seen.splice(0);
    await agent.upload(new Blob([bytes]), { resume: address });
    expect(seen).toEqual(['HEAD ', `PATCH ${8 * MiB}`, 'GET ']);
    await agent.upload(new Blob([bytes]), { resume: `${publicUrl}/files/${crypto.randomUUID()}` });
    expect(seen.slice(3)).toEqual(['HEAD ', 'POST ', 'PATCH 0', `PATCH ${8 * MiB}`, 'GET ']);
  });

  it('ends with the refusal of the agent, and when it is away for too long', async () => {
    const { publicUrl, open } = await serveAgain();
    const close = await open();
    const agent = await connect(publicUrl, { followForMs: 1 });
    const named = { filename: 'a'.repeat(257) };
    await expect(agent.upload(new Blob([bytes]), named)).rejects.toThrow('256 characters');
    const onBegun = () => void close();
    await expect(agent.upload(new Blob([bytes]), { onBegun })).rejects.toThrow(
      'Upload it again with `resume`',
    );
  });
});

it('reads a file of more than 4 GiB where it is asked to, and knows how long it is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-large-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [path, size] = [join(folder, 'film.mp4'), 5 * 2 ** 30];
  const handle = await open(path, 'w');
  await handle.write('the end', size - 7);
  await handle.close();
  const file = await fileAt(path);
  expect(file).toMatchObject({ name: 'film.mp4', size });
  expect(await new Response(file.slice(size - 7, size).stream()).text()).toBe('the end');
});
