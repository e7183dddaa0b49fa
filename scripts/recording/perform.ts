import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, run } from '../../test/kit/processes.ts';

/** What the two terminals showed, line by line; a line that begins with `$` was typed. */
export interface Scene {
  readonly server: readonly string[];
  readonly client: readonly string[];
}

const killedAt = 4;

/**
 * Runs a server and a client, kills the server with SIGKILL in the middle of page 4, starts it again, and waits until the
 * client has the whole task. Returns the lines until the kill, and those after it. The port is written as 4000.
 */
export async function perform(): Promise<readonly [Scene, Scene]> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-recording-'));
  const port = String(await freePort());
  const start = (program: URL, env: Record<string, string>) =>
    run('node', ['--conditions=@batonjs/source', program.pathname], { env });
  const serve = (env = {}) =>
    start(new URL('./server.ts', import.meta.url), { FILE: join(folder, 'tasks.db'), PORT: port, ...env });
  const linesOf = (output: string) => output.trimEnd().replaceAll(port, '4000').split('\n');
  try {
    await using first = serve({ WAITS_AT: String(killedAt) });
    await first.until(/listening/);
    await using client = start(new URL('./client.ts', import.meta.url), { URL: `http://127.0.0.1:${port}` });
    await first.until(new RegExp(`page ${killedAt}`));
    const seen = linesOf(await client.until(new RegExp(`page ${killedAt - 1}`)));
    first.signal('SIGKILL');
    if ((await first.ended) !== 'SIGKILL') throw new Error('The server ended before it was killed');

    await using second = serve();
    if ((await client.ended) !== 0) throw new Error(`The client failed:\n${client.output}`);
    return [
      {
        server: ['$ node server.ts', ...linesOf(first.output), '$ kill -9 …'],
        client: ['$ node client.ts', ...seen],
      },
      {
        server: ['$ node server.ts', ...linesOf(second.output)],
        client: linesOf(client.output).slice(seen.length),
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
