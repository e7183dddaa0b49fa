import { Command, type Option } from 'commander';
import { addMcp } from './bridge/mcp.ts';
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
import { addBulk } from './deployment/bulk.ts';
import { addCallbacks } from './deployment/callbacks.ts';
import { addDoctor } from './deployment/doctor.ts';
import { addErase } from './deployment/erase.ts';
import { addFork } from './deployment/fork.ts';
import { addRelease } from './deployment/release.ts';
import { addSchedules } from './deployment/schedules.ts';
import { addStore } from './deployment/store/commands.ts';
import { addDev } from './development/dev.ts';
import { defaultText } from './flags/duration.ts';
import type { Io } from './io.ts';
import { addReplay } from './replay/replay.ts';
import type { Run } from './run.ts';
import { isSettable, Settings } from './settings/settings.ts';
import { variableOf } from './settings/variable-of.ts';

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
  addReplay(program, run);
  addSchedules(program, run);
  addCallbacks(program, run);
  addStore(program, run);
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
