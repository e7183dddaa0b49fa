import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root, workspaces } from '../repository/source-files.ts';
import { compilerEnv } from './compiler-env.ts';

const execute = promisify(execFile);

/** A copy of the sources of all packages, which import one another in the copy, and of the scripts. */
export class CopiedSources {
  readonly folder: string;

  /** `include` is what the compiler reads, from the root of the repository. */
  constructor(include: readonly string[], compilerOptions: object = {}) {
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-sources-')));
    const config = { extends: './tsconfig.base.json', include, compilerOptions };
    cpSync(join(root, 'tsconfig.base.json'), this.#path('tsconfig.base.json'));
    // Scripts import some of what supports tests.
    for (const name of ['scripts', 'test/histories', 'test/kit/scope.ts', 'test/support', 'test/repository'])
      cpSync(join(root, name), this.#path(name), { recursive: true });
    writeFileSync(this.#path('tsconfig.json'), JSON.stringify(config));
    writeFileSync(this.#path('package.json'), JSON.stringify({ type: 'module' }));
    this.#linkModules(root, '');
    for (const { folder, manifest } of workspaces()) {
      if (!folder.startsWith('packages/')) continue;
      for (const name of ['src', 'package.json'])
        cpSync(join(root, folder, name), this.#path(join(folder, name)), { recursive: true });
      this.#link(this.#path(folder), `node_modules/${manifest.name}`);
      this.#linkModules(join(root, folder), folder);
    }
  }

  /** The files that do not compile, each once, in order, with the whole output of the compiler. */
  async compile(): Promise<{ failing: string[]; output: string }> {
    const tsc = join(root, 'node_modules/.bin/tsc');
    // Other tests have the other cores, and each more thread checks a part again.
    const output = await execute(tsc, ['-p', this.folder, '--pretty', 'false', '--singleThreaded'], {
      cwd: this.folder,
      env: compilerEnv,
      maxBuffer: 64 * 1024 * 1024,
    }).then(
      ({ stdout }) => stdout,
      ({ stdout }) => String(stdout),
    );
    const files = Array.from(output.matchAll(/^(\S+)\(\d+,\d+\): error/gm), ([, file]) => file!);
    return { failing: [...new Set(files)].sort(), output };
  }

  /** Replaces a part of a file. Throws if the file has none. */
  edit(file: string, pattern: RegExp, replacement: string): void {
    const before = readFileSync(this.#path(file), 'utf8');
    if (!pattern.test(before)) throw new Error(`${file} has no ${pattern}`);
    writeFileSync(this.#path(file), before.replace(pattern, replacement));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  #link(target: string, path: string): void {
    mkdirSync(this.#path(dirname(path)), { recursive: true });
    symlinkSync(realpathSync(target), this.#path(path));
  }

  /** Links the modules of others that a folder has installed. */
  #linkModules(from: string, to: string): void {
    const modules = join(from, 'node_modules');
    const names = existsSync(modules) ? readdirSync(modules) : [];
    for (const name of names.filter((name) => !name.startsWith('.') && name !== '@batonjs'))
      this.#link(join(modules, name), join(to, 'node_modules', name));
  }
}
