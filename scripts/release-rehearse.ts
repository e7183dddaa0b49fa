/**
 * `pnpm release:rehearse`: a whole release, on this machine alone. Versions and CHANGELOGs in a copy of the repository,
 * every package published to a registry on loopback, checked as it arrived there with the licences of what it brings. From
 * there a project is made with `npm create baton`, and the README's quickstart is installed with npm, pnpm, yarn and bun,
 * and run on Node.js 22.19 and 24. The exit code is 1 after any complaint.
 */
import { execFile } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { copyRepository } from '../test/kit/copy-repository.ts';
import { node22 } from '../test/kit/processes.ts';
import { judgeAll } from './packed/judge.ts';
import { pnpm, root, type Tarball } from './packed/pack.ts';
import { checkPublished, type Source } from './release/check-published.ts';
import { fetching } from './release/fetching.ts';
import { createProject, installSix } from './release/first-steps.ts';
import { licenceComplaints } from './release/licences.ts';
import { installers, installQuickstart, runQuickstart } from './release/quickstart.ts';
import { startRegistry } from './release/registry.ts';

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const folder = mkdtempSync(join(tmpdir(), 'baton-release-'));
const copy = join(folder, 'repository');
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const execute = async (
  command: string,
  args: readonly string[],
  cwd = copy,
  signal?: AbortSignal,
): Promise<string> => {
  const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`;
  // The registry shares a machine that may be busy with 36 packages that are published at once.
  const patience = { pnpm_config_fetch_timeout: '300000' };
  const env = { ...process.env, ...patience, PATH: path, npm_config_registry: undefined };
  const { stdout } = await promisify(execFile)(command, args, {
    cwd,
    env,
    maxBuffer: 1e8,
    ...(signal && { signal }),
  }).catch((cause) => {
    throw new Error(`${command} ${args.join(' ')}:\n${cause.stdout}${cause.stderr}`);
  });
  return stdout;
};

try {
  say('Building the packages …');
  await execute(process.execPath, ['scripts/turbo.ts', 'build'], root);
  await copyRepository(copy);
  for (const dist of globSync('packages/*/dist', { cwd: root }))
    cpSync(join(root, dist), join(copy, dist), { recursive: true });
  // Workspace dependencies are replaced by versions that are read from what is installed.
  const install = [
    'install',
    '--prod',
    '--filter-prod',
    './packages/*',
    '--ignore-scripts',
    '--prefer-offline',
  ];
  await fetching('the dependencies of the packages', (signal) => execute(pnpm, install, copy, signal));
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...author(), 'commit', '-qm', 'Before the release'],
  ])
    await execute('git', args);

  say('Versions and CHANGELOGs …');
  await execute(process.execPath, [join(root, 'scripts/release-version.ts')]);
  const sources = globSync('packages/*/package.json', { cwd: copy })
    .map((file) => JSON.parse(readFileSync(join(copy, file), 'utf8')) as Source)
    .filter((source) => source.private !== true);

  const upstream = (await execute('npm', ['config', 'get', 'registry'], root)).trim();
  await using registry = await startRegistry(join(folder, 'registry'), upstream);
  say(`Publishing to ${registry.url} …`);
  appendFileSync(join(copy, '.npmrc'), registry.npmrc);
  for (const args of [
    ['add', '-A'],
    [...author(), 'commit', '-qm', 'Release'],
  ])
    await execute('git', args);
  await execute('changeset', ['publish']);

  say('Checking what was published …');
  const tarballs: Tarball[] = [];
  let complaints = 0;
  for (const source of sources) {
    const checked = await checkPublished(registry, source, folder);
    tarballs.push(checked.tarball);
    complaints += checked.complaints.length;
    for (const complaint of checked.complaints) say(`${source.name}: ${complaint}`);
  }
  complaints += await judgeAll(tarballs);
  for (const complaint of await licenceComplaints()) {
    complaints += 1;
    say(complaint);
  }
  say(`${tarballs.length} packages published, ${complaints} complaints`);

  const version = (name: string) => sources.find((source) => source.name === name)!.version;
  say(await installSix(join(folder, 'six'), registry));
  await createProject(join(folder, 'created'), registry, version);
  say('npm create baton makes a project that runs, and baton --version is that of the release');
  const runtimes = [node22, process.execPath];
  for (const installer of installers) {
    const project = join(folder, installer.name);
    await installQuickstart(project, installer, registry, version);
    for (const node of runtimes) {
      const name = `${installer.name}, Node.js ${(await execute(node, ['--version'], project)).trim()}`;
      await runQuickstart(project, node).then(
        () => say(`The quickstart runs: ${name}`),
        (cause) => {
          complaints += 1;
          say(`The quickstart fails: ${name}\n${cause.message}`);
        },
      );
    }
  }
  if (complaints > 0) process.exitCode = 1;
} finally {
  if (values.keep) say(`Kept in ${folder}`);
  else if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
}

/** Commits need an author, also on a machine without one. */
function author(): string[] {
  return ['-c', 'user.name=Rehearsal', '-c', 'user.email=rehearsal@example.invalid'];
}
