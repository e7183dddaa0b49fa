import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addOutputFlags, type CommonOptions } from '../flags/agent-flags.ts';
import { toCount } from '../flags/key-values.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';

interface DevFlags extends CommonOptions {
  readonly port: number;
  readonly data: string;
  readonly inspect?: boolean;
}

export function addDev(program: Command, run: Run): void {
  const command = program
    .command('dev')
    .description('serve the agent in a file, again after each change, and open the inspector')
    .argument('<file>', 'a module whose default export is an agent, or { agent, card }')
    .option('--port <port>', 'listen on this port of loopback', toCount(0), 4000)
    .option('--data <file>', 'keeps the tasks over reloads', '.data/dev.db')
    .option('--no-inspect', 'do not open the inspector');
  addOutputFlags(command)
    .addHelpText('after', '\nExample:\n  $ baton dev agent.ts --port 4000\n')
    .action(run<DevFlags>(develop));
  const inner = program
    .command('serve-file', { hidden: true })
    .description('the process that dev starts again after each change')
    .argument('<file>')
    .argument('<port>')
    .argument('<data>');
  addOutputFlags(inner).action(
    run(async ({ output }: RunContext<CommonOptions>, file: string, port: string, data: string) => {
      const { serveFile } = await import('./serve-file.ts');
      output.field('URL', await serveFile(file, Number(port), data));
      // It ends by a signal.
      await new Promise(() => {});
    }),
  );
}

async function develop({ options, output, io }: RunContext<DevFlags>, file: string): Promise<void> {
  const path = resolve(io.cwd, file);
  if (!existsSync(path)) throw usage(`There is no file ${path}`);
  const isSource = import.meta.url.endsWith('.ts');
  const program = fileURLToPath(new URL(isSource ? '../main.ts' : './main.js', import.meta.url));
  const data = resolve(io.cwd, options.data);
  const child = spawn(
    process.execPath,
    [
      ...process.execArgv,
      '--watch',
      '--watch-preserve-output',
      program,
      'serve-file',
      path,
      String(options.port),
      data,
    ],
    { cwd: io.cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...io.env } },
  );
  const ended = once(child, 'exit');
  const stop = () => child.kill('SIGTERM');
  io.signal.addEventListener('abort', stop);
  let isInspected = options.inspect === false;
  let inspector: ChildProcess | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      const url = /^URL: (\S+)/.exec(line)?.[1];
      if (url === undefined) output.note(line);
      else if (output.isJson) output.json({ url });
      else output.field('URL', url);
      if (url !== undefined && !isInspected) {
        isInspected = true;
        inspector = inspect(url, io.cwd, output);
      }
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) output.note(line);
  });
  try {
    await ended;
  } finally {
    io.signal.removeEventListener('abort', stop);
    inspector?.kill();
  }
}

/** Starts the inspector if it is installed here; else says how to. */
function inspect(url: string, cwd: string, output: RunContext['output']): ChildProcess | undefined {
  try {
    // The program of the package stands beside its main file.
    const main = createRequire(join(cwd, 'package.json')).resolve('@batonjs/inspector');
    const program = main.replace(/index(?=\.[jt]s$)/, 'cli');
    if (existsSync(program))
      return spawn(process.execPath, [program, url], { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  } catch {
    // Falls through: it is not installed.
  }
  output.note(`Inspector: npx @batonjs/inspector ${url}`);
  return undefined;
}
