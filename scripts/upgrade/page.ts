import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../test/repository/source-files.ts';
import { programOf, type Release } from '../../test/upgrade/later-release.ts';

/** Runs a command of the page with the `baton` of a release. `onStart`: gets what kills it. */
export type Command = (release: Release, onStart?: (kill: () => void) => void) => Promise<Ran>;

interface Ran {
  /** Null: it was killed. */
  readonly code: number | null;
  readonly output: string;
}

const path = 'docs/operating/upgrading.md';

/** The commands of the upgrade page, by the headings that they stand under. */
export class Page {
  readonly #sections = readFileSync(join(root, path), 'utf8').split(/^## /m).slice(1);
  readonly #left = new Set(this.#sections.flatMap(commandsIn));
  readonly #addresses: Readonly<Record<string, string>>;

  /** `addresses`: what stands for those of the page. */
  constructor(addresses: Readonly<Record<string, string>>) {
    this.#addresses = addresses;
  }

  /** The commands that nobody has asked for. */
  get left(): string[] {
    return [...this.#left];
  }

  /** The commands of a section, in order. */
  commandsOf(heading: string): Command[] {
    const commands = commandsIn(this.#sections.find((section) => section.startsWith(`${heading}\n`)) ?? '');
    if (commands.length === 0) throw new Error(`${path} has no commands under "${heading}"`);
    for (const command of commands) this.#left.delete(command);
    return commands.map((command) => (release, onStart) => this.#run(command, release, onStart));
  }

  async #run(command: string, release: Release, onStart?: (kill: () => void) => void): Promise<Ran> {
    const [baton, ...words] = command.split(' ');
    if (baton !== 'baton') throw new Error(`${path} has a command that is not of baton: ${command}`);
    const program = await programOf(release, 'packages/cli/src/main.ts');
    const args = [program, ...words.map((word) => this.#addresses[word] ?? word)];
    return new Promise((resolve) => {
      const child = execFile(process.execPath, args, (_, stdout, stderr) =>
        resolve({ code: child.exitCode, output: `${command}\n${stdout}${stderr}` }),
      );
      onStart?.(() => child.kill('SIGKILL'));
    });
  }
}

const commandsIn = (section: string): string[] =>
  [...section.matchAll(/^ *```sh\n(.*?)^ *```/gms)].flatMap(([, lines = '']) =>
    lines.trim().split(/\s*\n\s*/),
  );
