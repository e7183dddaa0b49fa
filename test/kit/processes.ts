import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../repository/source-files.ts';

/** A command that runs in a process group of its own, as it would in a terminal. */
export interface Command {
  readonly pid: number;
  /** All that it has written so far. */
  readonly output: string;
  /** Resolves to the output once it matches; rejects if the command ends before. */
  until(pattern: RegExp): Promise<string>;
  /** Sends a signal to the whole group, as Ctrl-C does. */
  signal(signal: NodeJS.Signals): void;
  /** How it ended: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Kills the rest of the group. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The Node.js that runs the tests. */
export const node = process.execPath;

/** The oldest Node.js that the packages take. */
export const node22 = join(root, 'test/node22/node_modules/node/bin/node');

/** Starts a command; `env` is added to the environment, and installed commands are found. */
export function run(
  command: string,
  args: readonly string[],
  { cwd = root, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Command {
  const path = `${join(root, 'node_modules/.bin')}:${process.env.PATH}`;
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH: path, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const changed = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      changed.dispatchEvent(new Event('change'));
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal);
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, name);
    } catch (error) {
      // The group has ended already.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  return {
    pid: child.pid!,
    get output() {
      return output;
    },
    until(pattern) {
      return new Promise((resolve, reject) => {
        const check = () => pattern.test(output) && resolve(output);
        changed.addEventListener('change', check);
        check();
        void ended.then((how) => reject(new Error(`Ended with ${how} before ${pattern}:\n${output}`)));
      });
    },
    signal,
    ended,
    async [Symbol.asyncDispose]() {
      signal('SIGKILL');
      await ended;
    },
  };
}

/**
 * Runs a script of the repository that ends with a line of JSON. Resolves to its exit code, to that line, and to all that it
 * wrote: what its processes write may come after the line. Throws with all of it where there is no such line.
 */
export async function runScript(script: string, ...args: readonly string[]) {
  await using command = run(node, ['--conditions=@batonjs/source', script, ...args]);
  const code = await command.ended;
  const { output } = command;
  const last = output.split('\n').findLast((line) => line.startsWith('{'));
  if (last === undefined) throw new Error(`${script} ended with ${code} and without a report:\n${output}`);
  return { code, report: JSON.parse(last), output };
}

/**
 * Stops a process with SIGSTOP, and resolves once all of its threads stand still: on a busy machine they go on for a tenth
 * of a second.
 */
export async function pauseProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  while (!statesOf(pid).every((state) => /^[TZX]/.test(state))) await sleep(1);
}

/** What the system says of each thread of a process: `T` of one that was stopped. */
function statesOf(pid: number): string[] {
  const threads = `/proc/${pid}/task`;
  if (!existsSync(threads)) return [String(execFileSync('ps', ['-o', 'state=', '-p', String(pid)])).trim()];
  return readdirSync(threads).map((thread) => {
    const stat = readFileSync(join(threads, thread, 'stat'), 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2);
  });
}

/**
 * A port that no process listens on, below those that the system gives to connections: one of them would take it before the
 * server that it is for. `above`: so much above it is another one.
 */
export async function freePort(above = 0): Promise<number> {
  for (;;) {
    const port = 10_000 + share * perShare + Math.floor(Math.random() * perShare);
    if ((await isFree(port)) && (above === 0 || (await isFree(port + above)))) return port;
  }
}

/**
 * Files that run at once take their ports from different shares: a server that a test has killed finds its port free when it
 * starts again. Vitest numbers them from 1; others share the first one.
 */
const perShare = 1_000;
const share = Number(process.env.VITEST_POOL_ID ?? 0) % 12;

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
