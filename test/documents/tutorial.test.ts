import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { type Command, freePort, run } from '../kit/processes.ts';
import { readText, root, workspaces } from '../repository/source-files.ts';

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'baton-tutorial-'));
const programs: { readonly name: string; readonly command: Command }[] = [];
afterAll(async () => {
  for (const { command } of programs) await command[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** A block of the page: a file to save, commands to run, or the lines that a program prints. */
interface Block {
  readonly kind: string;
  readonly code: string;
  /** The sentences before the block. */
  readonly before: string;
}

const page = readText('docs/start/tutorial.md');
const blocks: Block[] = [];
let end = 0;
for (const { 0: all, 1: kind = '', 2: code = '', index } of page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
  blocks.push({ kind, code, before: page.slice(end, index).replaceAll(/\s+/g, ' ').trim() });
  end = index + all.length;
}

it('does every step of the tutorial: the task goes on where the killed process left it', {
  timeout: 180_000,
}, async () => {
  const port = String(await freePort());
  const results: string[] = [];
  for (const { kind, code, before } of blocks) {
    const text = code.replaceAll('4000', port);
    if (kind === 'ts') {
      const name = /`([\w.]+)`:$/.exec(before)![1]!;
      // The step that kills the agent may come late on a busy machine: the first agent does not end its third chapter.
      const pause = 'pause(process.env.ENDLESS === chapter ? 1e9 : 1_000';
      writeFileSync(join(folder, name), text.replace('pause(1_000', pause));
    } else if (kind === 'text') await expectOutput(before, text);
    else for (const line of text.trimEnd().split('\n')) results.push(await perform(line));
  }
  const kinds = blocks.map(({ kind }) => kind);
  expect(kinds).toEqual(['sh', 'ts', 'sh', 'text', 'ts', 'sh', 'text', 'sh', 'sh', 'text', 'text', 'sh']);

  const book = ['Winds', 'Tides', 'Storms', 'Home'];
  expect(JSON.parse(results.at(-1)!).tasks).toMatchObject([
    { status: { state: 'TASK_STATE_COMPLETED' }, artifacts: book.map((name) => ({ name })) },
  ]);
  const agents = programs.filter(({ name }) => name === 'agent').map(({ command }) => command.output);
  expect(agents.map((output) => output.match(/^Writing \w+$/gm))).toEqual([
    ['Writing Winds', 'Writing Tides', 'Writing Storms'],
    ['Writing Storms', 'Writing Home'],
  ]);
});

/** Runs a line of the page in the folder. A program goes on; another command ends, and its output is returned. */
async function perform(line: string): Promise<string> {
  const program = /^node (\w+)\.ts$/.exec(line)?.[1];
  if (program) {
    const command = run('node', [`${program}.ts`], {
      cwd: folder,
      env: {
        NODE_OPTIONS: '--conditions=@batonjs/source',
        ENDLESS: programs.some(({ name }) => name === program) ? '' : 'Storms',
      },
    });
    programs.push({ name: program, command });
    return '';
  }
  const installed = /^npm install (.+)$/.exec(line)?.[1];
  if (installed) {
    install(installed.split(' '));
    return '';
  }
  return (await execute('sh', ['-c', line], { cwd: folder })).stdout;
}

/** What `npm install` does, with the packages of this repository. */
function install(names: readonly string[]): void {
  for (const name of names) {
    const target = workspaces().find(({ manifest }) => manifest.name === name)!;
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, target.folder), path);
  }
}

/** Waits until the program that the page names has printed these lines, and compares all if the page says "In all". */
async function expectOutput(before: string, lines: string): Promise<void> {
  const [, whole, name] = /(In all, the|The) (agent|client) prints:$/.exec(before)!;
  const { command } = programs.findLast((one) => one.name === name)!;
  await command.until(new RegExp(lines.trimEnd().replaceAll('\n', '\\n(?:.*\\n)*?')));
  if (whole === 'The') {
    if (name === 'client') await programs[0]!.command.until(/Writing Storms/);
    return;
  }
  expect(await command.ended).toBe(0);
  expect(command.output).toBe(lines);
}
