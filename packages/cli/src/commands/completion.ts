import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { addOutputFlags, type CommonOptions } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';

export function addCompletion(program: Command, run: Run): void {
  const command = program
    .command('completion')
    .description('print a completion script for a shell: bash, zsh or fish')
    .argument('<shell>', 'bash, zsh or fish');
  addOutputFlags(command)
    .addHelpText('after', '\nExample:\n  $ source <(baton completion bash)\n')
    .action(
      run(async ({ output }: RunContext<CommonOptions>, shell: string) => {
        const script = scripts[shell];
        if (!script) throw usage(`There is no completion for ${shell}`, 'There are bash, zsh and fish');
        output.raw(script(program.name(), pathsOf(program)));
      }),
    );
}

/** The words that may follow each command, by its path: `''`, `task`, `task get` … */
type Paths = ReadonlyMap<string, readonly string[]>;

function pathsOf(program: Command): Paths {
  const paths = new Map<string, readonly string[]>();
  const visit = (command: Command, path: readonly string[]) => {
    const names = command.commands.map((each) => each.name());
    const flags = command.options.filter(({ hidden, long }) => !hidden && long).map(({ long }) => long!);
    paths.set(path.join(' '), [...names, ...flags, '--help']);
    for (const each of command.commands) visit(each, [...path, each.name()]);
  };
  visit(program, []);
  return paths;
}

/** Finds the command in the words before the cursor: the longest path that they name. */
const bash = (name: string, paths: Paths): string => `# ${name} completion for bash
_${id(name)}() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
${[...paths.keys()]
  .filter((path) => path !== '')
  .map((path) => `      "${path}") path="${path}" ;;`)
  .join('\n')}
    esac
  done
  local words=""
  case "$path" in
${[...paths].map(([path, words]) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${id(name)} ${name}
`;

const zsh = (name: string, paths: Paths): string =>
  `#compdef ${name}\nautoload -U +X bashcompinit && bashcompinit\n${bash(name, paths)}`;

const fish = (name: string, paths: Paths): string =>
  `# ${name} completion for fish\n${[...paths]
    .flatMap(([path, words]) =>
      words.map((word) => {
        const seen = path
          .split(' ')
          .filter(Boolean)
          .map((each) => `__fish_seen_subcommand_from ${each}`)
          .join('; and ');
        const when =
          seen === '' ? (word.startsWith('--') ? '' : "-n '__fish_use_subcommand' ") : `-n '${seen}' `;
        const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`;
        return `complete -c ${name} ${when}${what}`;
      }),
    )
    .join('\n')}\n`;

const scripts: Readonly<Record<string, (name: string, paths: Paths) => string>> = { bash, zsh, fish };

const id = (name: string): string => name.replaceAll('-', '_');
