import { statSync } from 'node:fs';
import { Command, Option } from 'commander';
import {
  addAgentFlags,
  addExample,
  addOutputFlags,
  addWaitFlags,
  type CommonOptions,
  secretFlags,
} from '../flags/agent-flags.ts';
import { defaultText } from '../flags/duration.ts';
import type { Run, RunContext } from '../run-context.ts';
import { globalFile, isSettable, Settings, variableOf } from '../settings/settings.ts';

type ConfigFlags = CommonOptions<'envFile'>;

/** A setting as `config show` lists it. */
interface Shown {
  readonly name: string;
  readonly variable: string;
  readonly value: string | null;
  readonly source: string;
}

export function addConfig(program: Command, run: Run): void {
  const config = program.command('config').description('look at the settings');
  const show = config
    .command('show')
    .description('show each setting and where it comes from; changes nothing');
  addExample(
    addOutputFlags(show).option('-a, --agent-card <ref>', 'with the settings for this agent'),
    'config show -a localhost:4000',
  ).action(run<ConfigFlags>(showConfig));
}

async function showConfig({ options, output, io }: RunContext<ConfigFlags>): Promise<void> {
  const settings = new Settings(io, options.config ?? options.envFile);
  const agentCard = options.agentCard ?? settings.find('--agent-card')?.value;
  const shown = settableFlags().map((option): Shown => {
    const long = option.long!;
    const setting = settings.find(long, long === '--agent-card' ? undefined : agentCard);
    const isSecret = secretFlags.has(option.attributeName());
    return {
      name: long.slice(2),
      variable: variableOf(long),
      value: setting ? (isSecret ? '[redacted]' : setting.value) : (defaultText(option) ?? null),
      source: setting ? [setting.source, setting.path].filter(Boolean).join(' ') : 'default',
    };
  });
  if (output.isJson) output.json({ settings: shown });
  else
    for (const { name, value, source } of shown)
      if (value !== null) output.field(name, `${value} (${source})`);
  const path = globalFile(io.home);
  if (isReadableByOthers(path)) output.warn(`${path} can be read by other users: chmod 600 ${path}`);
}

/** The flags that all commands share and that settings may hold. */
function settableFlags(): Option[] {
  const all = addWaitFlags(addAgentFlags(new Command()));
  return [
    ...all.options.filter(isSettable),
    new Option('--async'),
    new Option('--task-id <id>'),
    new Option('--context-id <id>'),
  ];
}

function isReadableByOthers(path: string): boolean {
  try {
    return (statSync(path).mode & 0o077) !== 0;
  } catch {
    return false;
  }
}
