import { type Command, CommanderError } from 'commander';
import { CliError } from './errors/cli-error.ts';
import { type FailureContext, toFailure } from './errors/envelope.ts';
import { durationText } from './flags/duration.ts';
import type { Io } from './io.ts';
import { cleanLine } from './output/clean.ts';
import { jsonText } from './output/json-text.ts';
import { createProgram } from './program.ts';
import type { Run } from './run.ts';
import { interrupted, RunContext } from './run-context.ts';
import { applySettings, Settings } from './settings/settings.ts';

/** Runs a command line, without the name of the program. Resolves to the exit code. */
export async function runCli(args: readonly string[], io: Io, version: string): Promise<number> {
  let context: RunContext | undefined;
  const run: Run =
    (act) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const { config, envFile } = command.opts();
      applySettings(command, new Settings(io, config ?? envFile));
      context = new RunContext(io, command);
      // Commander adds the options and the command behind the arguments.
      await act(context as never, ...(given.slice(0, -2) as never[]));
    };
  const program = createProgram(io, version, run);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return context?.exitCode ?? 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (io.signal.aborted) return interrupted;
    return fail(toUsage(error, program, args), context, args, io);
  }
}

/** Commander shows its help for a command that is only a group. */
function toUsage(error: unknown, program: Command, args: readonly string[]): unknown {
  if (!(error instanceof CommanderError)) return error;
  const message =
    error.code === 'commander.help' ? 'A command is missing' : error.message.replace('error: ', '');
  return new CliError(
    'A2ACLI_ERR_USAGE',
    message.replaceAll('\n', ' '),
    `${commandOf(program, args)} --help`,
  );
}

/** The names of the command that the words of a line lead to, as far as there is one. */
function commandOf(command: Command, [word, ...more]: readonly string[]): string {
  const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word ?? ''));
  return next ? `${command.name()} ${commandOf(next, more)}` : command.name();
}

function fail(error: unknown, context: RunContext | undefined, args: readonly string[], io: Io): number {
  const known: FailureContext = context?.failure ?? {};
  const { envelope, exitCode } = toFailure(error, known);
  const redact = (text: string) => context?.redactor.redact(text) ?? text;
  const { code, hint } = envelope.error;
  // Errors of libraries name milliseconds.
  const message = envelope.error.message.replaceAll(/\b(\d+) ms\b/g, (_, ms) => durationText(Number(ms)));
  if (context ? context.output.isJson : asksForJson(args)) {
    const shown = { error: { ...envelope.error, message: redact(message), hint: hint && redact(hint) } };
    const isLines = context?.output.isStreaming ?? args.includes('--stream');
    io.stdout.write(`${jsonText(shown, isLines)}\n`);
  } else {
    io.stderr.write(`Error: ${cleanLine(redact(message))}\nCode: ${code}\n`);
    if (hint !== null) io.stderr.write(`Hint: ${cleanLine(redact(hint))}\n`);
  }
  if (context?.options.debug && error instanceof Error)
    io.stderr.write(`${redact(`debug: ${error.stack ?? error}`)}\n`);
  return exitCode;
}

/** Whether a command line that could not be read asks for JSON. */
const asksForJson = (args: readonly string[]): boolean =>
  args.some(
    (arg, n) => /^(--output=|-o=?)json$/.test(arg) || (/^(-o|--output)$/.test(arg) && args[n + 1] === 'json'),
  );
