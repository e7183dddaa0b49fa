import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, run } from '../../test/kit/processes.ts';
import { tool } from './tools.ts';

/** A registry on loopback that takes our packages, and passes on all others from the registry that npm is set up with. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Where its files are. Gone with the rehearsal. */
  readonly folder: string;
  /** The lines of an `.npmrc` that let a package manager publish there. */
  readonly npmrc: string;
  /** The manifest of a version as the registry shows it, with `dist.tarball`. */
  manifest(name: string, version: string): Promise<Published>;
}

/** A manifest in the registry. */
export interface Published {
  readonly name: string;
  readonly version: string;
  readonly dist: { readonly tarball: string; readonly integrity: string };
  readonly [member: string]: unknown;
}

/** Starts Verdaccio with its files in `folder`. Rejects if it ends before it listens. */
export async function startRegistry(folder: string, upstream: string): Promise<Registry> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const ours = { access: '$all', publish: '$authenticated' };
  const config = {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: 1 } },
    uplinks: { upstream: { url: upstream } },
    packages: {
      '@batonjs/*': ours,
      'create-baton': ours,
      '**': { access: '$all', proxy: 'upstream' },
    },
    max_body_size: '50mb',
    log: { type: 'stdout', format: 'json', level: 'warn' },
  };
  // YAML takes JSON.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  const url = `http://127.0.0.1:${port}`;
  const server = run(process.execPath, [
    await tool('verdaccio'),
    '--config',
    join(folder, 'config.yaml'),
    '--listen',
    url,
  ]);
  const ended = server.ended.then((how) =>
    Promise.reject(new Error(`Verdaccio ended with ${how}: ${server.output}`)),
  );
  ended.catch(() => {});
  const answers = (async () => {
    while (
      !(await fetch(`${url}/-/ping`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await once(AbortSignal.timeout(50), 'abort');
  })();
  await Promise.race([answers, ended]);
  const user = { name: 'rehearsal', password: 'rehearsal-only' };
  const added = await fetch(`${url}/-/user/org.couchdb.user:${user.name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(user),
  });
  const { token } = (await added.json()) as { token: string };
  return {
    url,
    folder,
    npmrc: `registry=${url}/\n${url.replace('http:', '')}/:_authToken=${token}\n`,
    async manifest(name, version) {
      const response = await fetch(`${url}/${name.replace('/', '%2f')}/${version}`);
      if (!response.ok) throw new Error(`${name}@${version} is not in the registry: ${response.status}`);
      return (await response.json()) as Published;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
