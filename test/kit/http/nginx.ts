import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { installWithApt } from '../../support/install.ts';
import { reportMissing } from '../../support/missing.ts';
import { freePort, run } from '../processes.ts';
import { type AtEnd, temporaryFolder } from '../temporary-folder.ts';
import { eventually } from '../until.ts';

const howToGetIt = 'No nginx here: `apt-get install nginx-light` or `brew install nginx`.';
const isThere = (): Promise<boolean> =>
  promisify(execFile)('nginx', ['-v']).then(
    () => true,
    () => false,
  );

/** Whether nginx can run: it is there, or is installed now. Says how to get it where not, and throws there on CI. */
export async function hasNginx(): Promise<boolean> {
  if (await isThere()) return true;
  await installWithApt('nginx-light');
  if (await isThere()) return true;
  if (process.env.CI === 'true') throw new Error(howToGetIt);
  reportMissing(howToGetIt);
  return false;
}

/**
 * Starts nginx until the test ends, or what `atEnd` waits for. `rules`: what stands in `server`, after `listen`; `upstream`, in `http`. Files are those
 * of its folder, by name and text. Resolves to `host:port`.
 */
export async function nginx(
  rules: string,
  { upstream = '', tls = false, files = {} as Record<string, string>, atEnd = onTestFinished as AtEnd } = {},
): Promise<string> {
  const folder = temporaryFolder(atEnd);
  const address = `127.0.0.1:${await freePort()}`;
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {}
http { access_log off; ${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
${upstream}
server { listen ${address}${tls ? ' ssl' : ''}; ${rules} } }`,
  );
  const running = run('nginx', ['-p', folder, '-e', 'stderr', '-c', config]);
  atEnd(() => running[Symbol.asyncDispose]());
  await eventually(() => fetch(`http://${address}`));
  return address;
}
