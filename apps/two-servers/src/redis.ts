import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts a `redis-server` that runs as long as this process. Resolves to its URL; throws if it cannot be started. */
export async function startRedis(): Promise<string> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'two-servers-'));
  const settings = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes'];
  const redis = spawn('redis-server', ['--port', String(port), ...settings], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.once('exit', () => {
    redis.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  let said = '';
  const ready = new Promise<boolean>((resolve) => {
    redis.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('Ready to accept connections')) resolve(true);
    });
    redis.once('error', () => resolve(false)).once('exit', () => resolve(false));
  });
  if (await ready) return `redis://127.0.0.1:${port}`;
  throw new Error(
    'No redis-server here: `apt-get install redis-server`, `brew install redis`, or set BATON_STORE.',
  );
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
