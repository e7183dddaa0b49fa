import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, run } from '../kit/processes.ts';
import { type AtEnd, temporaryFolder } from '../kit/temporary-folder.ts';
import { installWithApt } from './install.ts';
import { reportMissing } from './missing.ts';

const howToGetIt = 'No PgBouncer here: `apt-get install pgbouncer` or `brew install pgbouncer`.';
const isThere = (): Promise<boolean> =>
  promisify(execFile)('pgbouncer', ['--version']).then(
    () => true,
    () => false,
  );

/** Whether PgBouncer can run: it is there, or is installed now. Says how to get it where not, and throws there on CI. */
export async function hasPgBouncer(): Promise<boolean> {
  if (await isThere()) return true;
  await installWithApt('pgbouncer');
  if (await isThere()) return true;
  if (process.env.CI === 'true') throw new Error(howToGetIt);
  reportMissing(howToGetIt);
  return false;
}

/**
 * Starts PgBouncer in transaction mode before a PostgreSQL: two connections to it, which each transaction takes anew.
 * Resolves to the URL of the same database behind it.
 */
export async function pgbouncer(url: string, atEnd: AtEnd): Promise<string> {
  const folder = temporaryFolder(atEnd);
  const { hostname, port, username, pathname } = new URL(url);
  const [listens, name] = [await freePort(), pathname.slice(1) || 'postgres'];
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(
    config,
    `[databases]
${name} = host=${hostname} port=${port} dbname=${name} user=${username || 'postgres'} pool_size=2
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listens}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 200
server_round_robin = 1
`,
  );
  // It refuses root.
  chmodSync(folder, 0o755);
  const running = run('pgbouncer', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), config]);
  atEnd(() => running[Symbol.asyncDispose]());
  await running.until(/process up/);
  return `postgres://postgres@127.0.0.1:${listens}/${name}`;
}
