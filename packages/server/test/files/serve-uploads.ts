import { once } from 'node:events';
import { connect } from 'node:net';
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';
import type { Mount } from '../../../../test/kit/http/mounts.ts';
import { serveHttp } from '../../../../test/kit/http/serve-http.ts';
import { memoryFiles } from '../../../../test/kit/memory-files.ts';
import type { AgentServerOptions } from '../../src/index.ts';
import { all } from './serve-files.ts';

export const version = { 'tus-resumable': '1.0.0' };
export const typed = { ...version, 'content-type': 'application/offset+octet-stream' };

/** A server over HTTP that takes uploads, and requests of tus to it. What it keeps may be that of another one. */
export async function serveUploads(
  { files: given, ...options }: Partial<AgentServerOptions> = {},
  mount?: Mount,
) {
  const [store, files] = [options.store ?? memoryStore(), given?.store ?? memoryFiles()];
  const settings = {
    publicUrl: 'http://localhost/agent',
    authenticate: ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }) =>
      headers['x-caller'] === '' ? undefined : { scope: headers['x-caller'] ?? 'ana' },
    card: { name: 'Test', description: 'For tests', defaultInputModes: ['image/*', 'application/*'] },
    ...options,
    store,
    files: { ...given, store: files },
  };
  const served = await serveHttp(settings, mount);
  onTestFinished(() => served.close());
  const ask = async (method: string, url: string, headers: Record<string, string>, body?: BodyInit) => {
    const init = { method, headers, body: body ?? null, duplex: 'half' } as RequestInit;
    const response = await fetch(url.replace(/^http:\/\/localhost/, served.origin), init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const at = `${served.origin}/agent/files`;
  const begin = async (
    length: unknown,
    headers: Record<string, string> = {},
    query = '',
    body?: BodyInit,
  ) => {
    const reply = await ask(
      'POST',
      at + query,
      { ...version, 'upload-length': `${length}`, ...headers },
      body,
    );
    return { ...reply, url: reply.headers.get('location') ?? '' };
  };
  const patch = (url: string, offset: number, body: BodyInit, headers: Record<string, string> = {}) =>
    ask('PATCH', url, { ...typed, 'upload-offset': `${offset}`, ...headers }, body);
  const offsetOf = async (url: string, headers: Record<string, string> = {}) => {
    const reply = await ask('HEAD', url, { ...version, ...headers });
    return reply.status === 200 ? Number(reply.headers.get('upload-offset')) : reply.status;
  };
  /** Sends the head of a PATCH that says it has `length` bytes, some of them, and no more. */
  const cut = async (url: string, offset: number, bytes: Uint8Array, length: number) => {
    const { port, pathname } = new URL(url.replace(/^http:\/\/localhost/, served.origin));
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const headers = { ...typed, host: 'localhost', 'upload-offset': offset, 'content-length': length };
    const lines = Object.entries(headers).map((line) => line.join(': '));
    socket.write(`PATCH ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    await new Promise((resolve) => socket.write(bytes, resolve));
    socket.destroy();
  };
  const keys = async () =>
    (await all(files.list(''))).flatMap(({ key }) => (key.includes('/mark/') ? [] : key));
  return { ...served, store, files, at, ask, begin, patch, offsetOf, cut, keys };
}

/** Two servers on the same stores. */
export async function serveTwo() {
  const one = await serveUploads();
  return [one, await serveUploads({ store: one.store, files: { store: one.files } })] as const;
}
