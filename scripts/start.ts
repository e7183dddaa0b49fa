/**
 * `pnpm start`: builds what the sample agents need, then becomes the server.
 *
 * The gallery runs in this very process: a signal that reaches the command reaches the server, nothing has to be forwarded,
 * and a killed process group leaves nothing behind.
 */
import { spawnSync } from 'node:child_process';

process.stdout.write('Building the packages …\n');
const build = spawnSync(
  'turbo',
  ['run', 'build', '--filter=@batonjs/gallery^...', '--output-logs=errors-only'],
  { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' },
);
if (build.error) throw build.error;
if (build.status !== 0) {
  process.stdout.write(build.stdout);
  process.exit(build.status ?? 1);
}

const gallery = new URL('../apps/gallery/src/main.ts', import.meta.url);
await import(gallery.href);
