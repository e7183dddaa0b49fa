import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { CliError, usage } from '../errors/cli-error.ts';
import { addExample, addOutputFlags, type CommonOptions, toCount } from '../flags/agent-flags.ts';
import { interrupted, type Run, type RunContext } from '../run-context.ts';

type DevFlags = CommonOptions<never, 'inspect'> & { readonly port: number; readonly data: string };

export function addDev(program: Command, run: Run): void {
  const command = program
    .command('dev')
    .description('serve the agent in a file, again after each change, and open the inspector')
    .argument('<file>', 'a module whose default export is an agent, or { agent, card }')
    .option('--port <port>', 'listen on this port of loopback', toCount(0), 4000)
    .option('--data <file>', 'keeps the tasks over reloads', '.data/dev.db')
    .option('--no-inspect', 'do not open the inspector');
  addExample(addOutputFlags(command), 'dev agent.ts --port 4000').action(run<DevFlags>(develop));
  const inner = program
    .command('serve-file', { hidden: true })
    .description('the process that dev starts again after each change')
    .argument('<file>')
    .argument('<port>')
    .argument('<data>');
  addOutputFlags(inner).action(
    run(async ({ io }: RunContext<CommonOptions>, file: string, port: string, data: string) => {
      const { serveFile } = await import('./serve-file.ts');
      // It may be told to end while the agent's file still loads.
      let close = async () => {};
      io.signal.throwIfAborted();
      io.signal.addEventListener('abort', () => void close().then(() => process.exit()));
      endWithDev(io.signal);
      const served = await serveFile(file, Number(port), data);
      close = served.close;
      process.send?.({ serves: served.url } satisfies AgentReport);
      // It ends by a signal.
      await new Promise(() => {});
    }),
  );
}

/**
 * Ends this process with the one that watches, and both with `baton dev`, even if that is killed: at once where they end
 * already, so that a second Ctrl-C does not wait.
 */
function endWithDev(ending: AbortSignal): void {
  const watching = process.ppid;
  process.once('disconnect', () => process.exit());
  const stop = () => {
    if (ending.aborted) process.exit(interrupted);
    if (process.ppid === watching) process.kill(watching, 'SIGTERM');
  };
  if (process.connected) process.stdin.once('end', stop).resume();
}

async function develop({ options, output, io }: RunContext<DevFlags>, file: string): Promise<void> {
  const path = resolve(io.cwd, file);
  if (!existsSync(path)) throw usage(`There is no file ${path}`);
  const served = { path, port: options.port, data: resolve(io.cwd, options.data), cwd: io.cwd, env: io.env };
  let isInspected = options.inspect === false;
  let inspector: ChildProcess | undefined;
  const agentProcess = startProcess(served, {
    onLine: (line) => output.note(line),
    onUrl(url) {
      output.result({ url }, [['URL', url]]);
      if (isInspected) return;
      isInspected = true;
      inspector = inspect(url, io.cwd, output);
    },
  });
  const stop = () => agentProcess.stop();
  io.signal.addEventListener('abort', stop);
  try {
    const how = await agentProcess.ended;
    if (how !== undefined)
      throw new CliError(
        'A2ACLI_ERR_INTERNAL',
        `The process that watches the agent ended (${how})`,
        'Start `baton dev` again',
      );
  } finally {
    io.signal.removeEventListener('abort', stop);
    stop();
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

export interface Served {
  /** The file with the agent. */
  readonly path: string;
  readonly port: number;
  /** The file with the tasks. */
  readonly data: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What the process reports over its channel once it serves: standard output is the agent's, and may say anything. */
interface AgentReport {
  readonly serves: string;
}

/** The process that serves an agent in development, and again after each change of its files. */
function startProcess(
  served: Served,
  heard: { readonly onUrl: (url: string) => void; readonly onLine: (line: string) => void },
) {
  let isStopped = false;
  const isSource = import.meta.url.endsWith('.ts');
  const program = fileURLToPath(new URL(isSource ? '../main.ts' : './main.js', import.meta.url));
  const { path, port, data, cwd, env } = served;
  const watching = ['--watch', '--watch-preserve-output'];
  const child = spawn(
    process.execPath,
    [...process.execArgv, ...watching, program, 'serve-file', path, String(port), data],
    // Nothing is written to its standard input, which closes when this process ends, however it ends.
    { cwd, stdio: ['pipe', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...env } },
  );
  /** Resolves when the process has ended, for good: to its signal or exit code unless `stop` was called. */
  const ended = new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(isStopped ? undefined : (signal ?? `exit code ${code}`))),
  );
  // The process that watches tells of the files that it watches, too.
  child.on('message', (report: Partial<AgentReport>) => {
    if (report.serves !== undefined) heard.onUrl(report.serves);
  });
  for (const input of [child.stdout, child.stderr])
    if (input) createInterface({ input }).on('line', (line) => line && heard.onLine(line));

  return {
    stop(): void {
      isStopped = true;
      child.kill('SIGTERM');
    },
    ended,
  };
}
