import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pnpm, root, type Tarball } from './pack.ts';

const run = promisify(execFile);

/** What a reader of the README installs next to our packages. */
const companions = ['express', '@types/express', '@types/node'];

/**
 * Makes `folder` a project that installed the tarballs: their dependencies on each other are met by tarballs too.
 * `more` are versions of other packages to install. What comes from the registry is what the repository itself has installed, so that nothing is downloaded twice.
 */
export async function installTarballs(
  folder: string,
  tarballs: readonly Tarball[],
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const packed = Object.fromEntries(tarballs.map(({ name, path }) => [name, `file:${path}`]));
  const installed = Object.fromEntries(companions.map((name) => [name, versionHere(name)]));
  const manifest = {
    name: 'consumer',
    private: true,
    type: 'module',
    dependencies: { ...packed, ...installed, ...more },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'pnpm-workspace.yaml'),
    // The install script of protobufjs, which gRPC brings, only prints a warning; esbuild works without its own.
    JSON.stringify({
      overrides: packed,
      autoInstallPeers: false,
      allowBuilds: { protobufjs: false, esbuild: false },
    }),
  );
  await run(pnpm, ['install', '--prefer-offline', '--reporter', 'append-only'], { cwd: folder });
}

/** The code blocks of a Markdown file of the repository in a language, in order; `tsx` are those with JSX of React. */
export function codeBlocks(file: string, language = 'ts'): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const block = new RegExp(`^\`\`\`${language}(?: \\[.*\\])?\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return Array.from(text.matchAll(block), ([, code]) => code!);
}

function versionHere(name: string): string {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}
