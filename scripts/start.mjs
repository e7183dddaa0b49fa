/**
 * `pnpm start`: installs what the sample agents need, builds the pages of the inspector and the chat and serves the gallery; with `--build`
 * all but the last.
 *
 * Plain JavaScript without packages, for the machine's own Node.js, also one that is too old for the packages: nothing is installed when it begins.
 * Only `dependencies` are installed, never what tests, benchmarks and documents need; a clone that has those keeps them.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { install, run } from './start/install.mjs';
import { pinnedNode } from './start/platform.mjs';

const root = resolve(import.meta.dirname, '..');
/** The folders whose pages Vite builds into `dist/app`. */
const pages = { inspector: join(root, 'packages/inspector'), chat: join(root, 'apps/chat') };

const isAgain = existsSync(join(root, 'node_modules/.modules.yaml'));
say(isAgain ? 'Checking the installed packages …' : 'Installing the packages of the sample agents …');
install(root, '@batonjs/gallery', { isQuiet: isAgain });
const node = usableNode();
for (const [name, folder] of Object.entries(pages)) buildPage(name, folder);
if (!process.argv.includes('--build')) serve();

/** The Node.js that the repository pins, or this one where npm has none for the platform. */
function usableNode() {
  const { platform, arch, version, versions, execPath } = process;
  const path = pinnedNode(platform, arch);
  if (path && existsSync(join(root, 'node_modules', path))) return join(root, 'node_modules', path);
  if (Number.parseInt(versions.node, 10) >= 24) return execPath;
  const why = path ? `${path} was not installed` : `npm has none for ${platform} on ${arch}`;
  say(`The sample agents run on Node.js 24 or newer. This is ${version}, and ${why}.`);
  process.exit(1);
}

/** The agents run on the sources as they are. Only pages need a build, after each change of what is in them. */
function buildPage(name, folder) {
  const packages = readdirSync(join(root, 'packages')).map((each) => join(root, 'packages', each, 'src'));
  const page = join(folder, 'dist/app');
  const built = statSync(join(page, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.max(...[...packages, join(folder, 'src')].map(newestIn)) < built) return;
  say(`Building the ${name} …`);
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  // Apart from the page that another process may serve.
  const fresh = `${page}-${process.pid}`;
  run(node, [vite, 'build', '--logLevel', 'warn', '--outDir', fresh], folder);
  rmSync(page, { recursive: true, force: true });
  renameSync(fresh, page);
}

function newestIn(folder) {
  if (!existsSync(folder)) return 0;
  return Math.max(
    ...readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? newestIn(path) : statSync(path).mtimeMs;
    }),
  );
}

function serve() {
  const gallery = join(root, 'apps/gallery/src/main.ts');
  // The channel tells the gallery when this process is killed: it ends then too.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const server = spawn(node, ['--conditions=@batonjs/source', gallery], { stdio });
  const passedOn = new Set();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      passedOn.add(signal);
      server.kill(signal);
    });
  }
  server.on('exit', (code, signal) => {
    // It stopped as it was asked to: a second signal may come when it has closed and takes none any more.
    if (passedOn.has(signal)) process.exit(0);
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
