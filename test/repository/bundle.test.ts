import { join } from 'node:path';
import { type BuildResult, build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { root } from './source-files.ts';

/** Makes one file of a program, as bundlers for Workers and browsers do: nothing of Node.js is replaced. */
const bundle = (
  contents: string,
  outfile: string,
  conditions: readonly string[] = ['workerd', 'worker', 'browser'],
): Promise<BuildResult<{ metafile: true }>> =>
  build({
    stdin: { contents, resolveDir: join(root, 'test'), loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@batonjs/source', ...conditions, 'import'],
    external: ['node:*'],
    metafile: true,
    logLevel: 'silent',
  });

const ofNode = ({ metafile }: BuildResult<{ metafile: true }>) =>
  Object.values(metafile.outputs)
    .flatMap(({ imports }) => imports)
    .map(({ path }) => path)
    .filter((path) => path.startsWith('node:'));

const file = () => join(temporaryFolder(), 'bundle.mjs');

const echo = `
  import { createAgentServer, reply } from '@batonjs/server';
  import { memoryStore } from '@batonjs/store-memory';
  export default createAgentServer({
    card: { name: 'Echo', description: 'Says it again' },
    agent: ({ text }) => reply(text),
    store: memoryStore(),
  });`;

describe('a bundle', () => {
  it.each([
    'client',
    'store-memory',
    'store-sqlite/durable-object',
    'server',
    'bindings',
    'bindings-v0-3',
    'auth',
    'protocol',
  ])('of %s has no import of Node.js', async (name) => {
    const code = `import * as all from '@batonjs/${name}'; console.log(all);`;
    expect(ofNode(await bundle(code, file()))).toEqual([]);
  });

  it('of a server imports the modules of Node.js where the bundler has its condition', async () => {
    expect(ofNode(await bundle(echo, file(), ['node']))).toContain('node:crypto');
  });

  it('of a server without that condition answers', async () => {
    const outfile = file();
    expect(ofNode(await bundle(echo, outfile))).toEqual([]);
    const { default: server } = await import(outfile);
    const body = JSON.stringify({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello' }] },
    });
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const request = new Request('http://localhost/message:send', { method: 'POST', headers, body });
    expect((await (await server.fetch(request)).json()).message.parts).toEqual([{ text: 'Hello' }]);
    await server.close();
  });
});
