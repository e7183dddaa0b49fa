import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../../kit/http/exchange.ts';
import { type Command, freePort, node, run } from '../../kit/processes.ts';
import { checkRecipe } from '../checks.ts';
import { path } from '../echo.ts';

const cwd = join(import.meta.dirname, 'next');
const next = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(node, [join(cwd, 'node_modules/next/dist/bin/next'), ...args], {
    cwd,
    env: { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...env },
  });

describe('Next.js', () => {
  let app: Command;
  let origin: string;

  beforeAll(async () => {
    await using build = next(['build']);
    if ((await build.ended) !== 0) throw new Error(build.output);
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    app = next(['start', '--hostname', '127.0.0.1', '--port', `${port}`], { PUBLIC_URL: `${origin}${path}` });
    await app.until(/Ready/);
  });

  afterAll(() => app?.[Symbol.asyncDispose]());

  const load = async () => (await exchange(origin, { path: '/load' })).json;

  checkRecipe(async () => ({ origin, load }));

  it('redirects a path that ends in a slash, and refuses methods without a handler itself', async () => {
    const redirected = await exchange(origin, { path: `${path}/` });
    expect([redirected.status, redirected.headers.location]).toEqual([308, path]);
    const refused = await exchange(origin, { method: 'PUT', path });
    expect([refused.status, refused.text]).toEqual([405, '']);
  });
});
