/**
 * `pnpm test:templates`: writes a project of create-baton for every template and store, installs it with npm from the
 * packed packages, as on a fresh machine, and runs its types, its test, its server and its client. Prints how long a
 * project takes from nothing to an answer. `pnpm test:templates chat` tries the projects of this template only, and
 * `pnpm test:templates lambda` those for this host, which have a build and no server.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { choicesOn, hosts, stores, templates } from '../packages/create-baton/src/choices.ts';
import { node22 } from '../test/kit/processes.ts';
import { canStartPostgres, startPostgres } from '../test/support/postgres.ts';
import { canStart, startRedis } from '../test/support/redis.ts';
import { packAll, type Tarball } from './packed/pack.ts';
import { runScript, tryProject } from './packed/try-project.ts';

const run = promisify(execFile);
const named = process.argv.slice(2);
const isHost = (name: string): name is keyof typeof hosts => Object.hasOwn(hosts, name);
const all = [...Object.keys(templates), ...Object.keys(hosts)];
// An app of Next.js starts in another way: `pnpm test:recipes` builds it and talks to it.
const chosen = named.length > 0 ? named : all.filter((template) => template !== 'next');
const unknown = chosen.filter((template) => !all.includes(template));
if (unknown.length > 0) throw new TypeError(`No template is called ${unknown.join(', ')}: ${all.join(', ')}`);

const folder = mkdtempSync(join(tmpdir(), 'baton-templates-'));
const redis = (await canStart()) ? await startRedis() : undefined;
const postgres = (await canStartPostgres()) ? await startPostgres() : undefined;
try {
  const tarballs = await packAll(folder);
  for (const store of Object.keys(stores))
    for (const template of chosen.filter((name) => !isHost(name)))
      await tryOne(store, template, process.execPath, tarballs);
  for (const host of chosen.filter(isHost)) await tryHost(host, tarballs);
  if (chosen.includes('plain'))
    for (const store of ['memory', 'sqlite']) await tryOne(store, 'plain', node22, tarballs);
} finally {
  await Promise.all([redis?.stop(), postgres?.stop()]);
  rmSync(folder, { recursive: true });
}

async function tryOne(
  store: string,
  template: string,
  node: string,
  tarballs: readonly Tarball[],
): Promise<void> {
  const env = serverOf(store);
  if (!env) {
    process.stdout.write(`${template}, ${store}: skipped, the server of the store is not here\n`);
    process.exitCode = 1;
    return;
  }
  const since = performance.now();
  const { stdout: version } = await run(node, ['--version']);
  const name = `${template}-${store}-${version.trim()}`;
  await create(name, ['--store', store, '--template', template], node, tarballs);
  const project = { folder: join(folder, name), template, node, env };
  await install(project.folder, tarballs);
  const said = await tryProject(project);
  const seconds = ((performance.now() - since) / 1_000).toFixed(1);
  await runScript(project, 'check');
  await runScript(project, 'test');
  process.stdout.write(`${name}: ${seconds} s to ${JSON.stringify(said.trim().split('\n').at(-1))}\n`);
}

/** Each project for a host, except that of Next.js. */
async function tryHost(host: keyof typeof hosts, tarballs: readonly Tarball[]): Promise<void> {
  const offered = choicesOn(host);
  for (const store of Object.keys(offered.stores))
    for (const template of Object.keys(offered.templates).filter((one) => one !== 'next')) {
      const name = `${template}-${store}-${host}`;
      const flags = ['--host', host, '--store', store, '--template', template];
      await create(name, flags, process.execPath, tarballs);
      const project = { folder: join(folder, name), template, node: process.execPath };
      await install(project.folder, tarballs, ['esbuild', 'workerd']);
      await runScript(project, 'check');
      await runScript(project, 'test');
      const { scripts } = JSON.parse(readFileSync(join(project.folder, 'package.json'), 'utf8'));
      if (scripts.build) await runScript(project, 'build');
      process.stdout.write(`${name}: checked, tested${scripts.build ? ' and built' : ''}\n`);
      rmSync(project.folder, { recursive: true });
    }
}

/** Writes a project into the folder, by the packed program. `npm create` runs it from a folder of its own. */
async function create(name: string, flags: readonly string[], node: string, tarballs: readonly Tarball[]) {
  const packed = tarballs.find((tarball) => tarball.name === 'create-baton')!;
  const unpacked = join(folder, `create-${name}`);
  mkdirSync(unpacked);
  await run('tar', ['-xzf', packed.path, '-C', unpacked]);
  await run(node, [join(unpacked, 'package/dist/main.js'), name, ...flags], { cwd: folder });
}

/** Where the store of a project is; undefined if its server cannot be had. */
function serverOf(store: string): Readonly<Record<string, string>> | undefined {
  if (store === 'redis') return redis && { REDIS_URL: redis.url };
  if (store === 'postgres') return postgres && { DATABASE_URL: postgres.url };
  return {};
}

/** Installs a project with npm. Our own packages are not in a registry yet: they come from the tarballs. */
async function install(
  project: string,
  tarballs: readonly Tarball[],
  checking: readonly string[] = [],
): Promise<void> {
  const packed = Object.fromEntries(tarballs.map(({ name, path }) => [name, `file:${path}`]));
  const path = join(project, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const local = (versions: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(versions).map(([name, version]) => [name, packed[name] ?? version]));
  const { dependencies, devDependencies } = manifest;
  const changed = {
    ...manifest,
    dependencies: local(dependencies),
    devDependencies: local(devDependencies),
    overrides: packed,
  };
  writeFileSync(path, JSON.stringify(changed));
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await run('npm', ['install', ...flags], { cwd: project });
  mustRunNoScripts(project, checking);
}

/**
 * Installers ask, warn or refuse where a package has a script of its own, and a beginner does not know what to answer.
 * `checking`: packages whose scripts only check a program that comes as a package of its own.
 */
function mustRunNoScripts(project: string, checking: readonly string[]): void {
  const lock = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  const packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>> = lock.packages;
  const found = Object.keys(packages).filter(
    (path) => packages[path]?.hasInstallScript && !checking.some((one) => path.endsWith(`/${one}`)),
  );
  if (found.length > 0) throw new Error(`Packages of a new project have install scripts: ${found}`);
}
