import { Command, CommanderError, type Option } from 'commander';
import { addMcp } from './bridge/mcp.ts';
import { addAgents } from './commands/agents.ts';
import { addAuth } from './commands/auth.ts';
import { addCard } from './commands/card.ts';
import { addChat } from './commands/chat.ts';
import { addCompletion } from './commands/completion.ts';
import { addConfig } from './commands/config.ts';
import { addConformance } from './commands/conformance.ts';
import { addDemoServer } from './commands/demo-server.ts';
import { addDownload } from './commands/download.ts';
import { addTasks } from './commands/list.ts';
import { addPushConfig } from './commands/push-config.ts';
import { addSend } from './commands/send.ts';
import { addTask } from './commands/task.ts';
import { addBulk, addFork } from './deployment/bulk.ts';
import { addDoctor } from './deployment/doctor.ts';
import { addErase } from './deployment/erase.ts';
import { addStore } from './deployment/store/commands.ts';
import { addCallbacks, addRelease, addSchedules } from './deployment/upkeep.ts';
import { addUsage } from './deployment/usage.ts';
import { addDev } from './development/dev.ts';
import { CliError, toFailure } from './errors/cli-error.ts';
import { defaultText, durationText } from './flags/duration.ts';
import type { Io } from './io.ts';
import { cleanLine } from './output/clean.ts';
import { jsonText } from './output/json-text.ts';
import { interrupted, type Run, RunContext } from './run-context.ts';
import { applySettings, isSettable, Settings, variableOf } from './settings/settings.ts';

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
    // A word of a search that would be taken for a flag.
    await program.parseAsync(
      args.map((word) => word.replace(/^-label:/, ' $&')),
      { from: 'user' },
    );
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
  const { error: found, exitCode } = toFailure(error, context?.failure);
  const redact = (text: string) => context?.redactor.redact(text) ?? text;
  const { code, hint } = found;
  // Errors of libraries name milliseconds.
  const message = found.message.replaceAll(/\b(\d+) ms\b/g, (_, ms) => durationText(Number(ms)));
  if (context ? context.output.isJson : asksForJson(args)) {
    const shown = { error: { ...found, message: redact(message), hint: hint && redact(hint) } };
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

/** The commands. `run` makes the action of each. */
export function createProgram(io: Io, version: string, run: Run): Command {
  const program = new Command(io.program)
    .description('Talks to A2A agents: sends messages, follows tasks, reads cards.')
    .version(version, '-v, --version')
    .helpCommand('help [command]', 'display help for a command')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} })
    .configureHelp({ optionDescription: (option) => describe(option, io) });
  addSend(program, run);
  const task = addTask(program, run);
  addDownload(task, run);
  addPushConfig(task, run);
  addCard(program, run);
  addAgents(program, run);
  addAuth(program, run);
  addConfig(program, run);
  addChat(program, run);
  addConformance(program, run);
  addCompletion(program, run);
  addDemoServer(program, run);
  addDev(program, run);
  addMcp(program, run);
  const tasks = addTasks(program, run);
  addRelease(tasks, run);
  addFork(tasks, run);
  addBulk(tasks, run);
  addErase(tasks, run);
  addSchedules(program, run);
  addCallbacks(program, run);
  addStore(program, run);
  addUsage(program, run);
  addDoctor(program, run);
  for (const command of allOf(program)) command.copyInheritedSettings(program);
  return program;
}

/** A command with all below it. */
export const allOf = (command: Command): Command[] => [command, ...command.commands.flatMap(allOf)];

/** The description of a flag with its variable, and the default that is in effect. */
function describe(option: Option, io: Io): string {
  if (!isSettable(option)) return option.description;
  const variable = variableOf(option.long!);
  const setting = new Settings(io).find(option.long!);
  const shown = setting ? (isSecret(option) ? 'set' : setting.value) : plain(option);
  const effective =
    shown === undefined || shown === '' ? '' : `; default: ${shown}${setting ? ` (${setting.source})` : ''}`;
  return `${option.description} [${variable}${effective}]`;
}

const isSecret = ({ long }: Option): boolean => /bearer|api-key|svc-param|secret|token/.test(long ?? '');

const plain = (option: Option): string | undefined => defaultText(option) ?? defaults[option.long ?? ''];

/** Defaults that are not a value of the flag. */
const defaults: Readonly<Record<string, string>> = {
  '--transport': 'the order of the card',
  '--mix': 'send=1',
  '--async': 'off, send waits',
  '--a2a-version': 'the highest that both know, 1.0 or later',
  '--insecure': 'off, certificates are verified',
  '--verbose': 'off, output is concise',
};
