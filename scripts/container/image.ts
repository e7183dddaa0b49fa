import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyRepository } from '../../test/kit/copy-repository.ts';
import { root } from '../packed/pack.ts';
import { parseDockerfile, type Stage, wordsOf } from './dockerfile.ts';

/** A folder in place of an image: what `docker run` would start in it. */
export interface Image {
  readonly env: Readonly<Record<string, string>>;
  /** The folder in place of the working directory. */
  readonly folder: string;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

/**
 * Carries out the instructions of a Dockerfile below `folder`, on this machine: each absolute path is one below the folder
 * of its stage, and the user `node` is the one that runs this. Throws an `Error` with the output of a command that fails.
 */
export async function buildImage(text: string, folder: string): Promise<Image> {
  const stages = parseDockerfile(text);
  for (const [n, stage] of stages.entries()) await buildStage(stage, folderOf(stages, n));
  const last = stages.at(-1)!;
  const at = folderOf(stages, stages.length - 1);
  const words = (name: string) => wordsOf(last.instructions.findLast((each) => each.name === name)!);
  return {
    env: environmentOf(last, at),
    folder: workingFolder(last, at),
    command: words('CMD'),
    healthCheck: words('HEALTHCHECK'),
  };

  function folderOf(all: readonly Stage[], n: number): string {
    return join(folder, all[n]!.name ?? `stage-${n}`);
  }

  async function buildStage(stage: Stage, into: string): Promise<void> {
    const here = workingFolder(stage, into);
    mkdirSync(here, { recursive: true });
    for (const { name, text: rest } of stage.instructions) {
      if (name === 'COPY') await copy(rest, here);
      if (name === 'RUN') runIn(here, onThisMachine(rest, into), environmentOf(stage, into));
    }
  }

  async function copy(rest: string, here: string): Promise<void> {
    const [, from, source = '', target = ''] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest) ?? [];
    if (from === undefined && source === '.') return await copyRepository(here);
    const origin = from === undefined ? join(root, source) : join(folder, from, source);
    const destination = target.endsWith('/')
      ? join(here, target, source.split('/').at(-1)!)
      : join(here, target);
    mkdirSync(dirname(destination), { recursive: true });
    cpSync(origin, destination, { recursive: true, verbatimSymlinks: true });
  }
}

const workingFolder = ({ instructions }: Stage, at: string): string =>
  join(at, instructions.find(({ name }) => name === 'WORKDIR')?.text ?? '/');

function environmentOf({ instructions }: Stage, at: string): Record<string, string> {
  const pairs = instructions.filter(({ name }) => name === 'ENV').flatMap(({ text }) => text.split(' '));
  return Object.fromEntries(
    pairs.map((pair) => pair.split('=')).map(([key, value = '']) => [key, below(value, at)]),
  );
}

const below = (path: string, at: string): string => (path.startsWith('/') ? join(at, path) : path);

/** Absolute paths below the stage, and this user for `node`. */
const onThisMachine = (command: string, at: string): string =>
  command
    .replaceAll(/(?<=\s)\/(?=\w)/g, `${at}/`)
    .replaceAll(/\bchown node\b/g, `chown ${process.getuid?.() ?? 0}`);

function runIn(cwd: string, command: string, env: Readonly<Record<string, string>>): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`RUN ${command}\n${stdout}${stderr}`);
}
