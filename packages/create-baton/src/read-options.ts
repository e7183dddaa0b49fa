import { parseArgs } from 'node:util';
import { chosen, InputError, type Project, stores, templates } from './choices.ts';

/** What the program was told. The program asks for the rest, unless `yes`. */
export interface Options extends Partial<Project> {
  readonly yes: boolean;
}

const rows = (choices: Readonly<Record<string, string>>) =>
  Object.entries(choices)
    .map(([name, about]) => `                       ${name.padEnd(10)} ${about}\n`)
    .join('');

export const usage = `Usage: npm create baton@latest [folder] [options]

Writes a project with a durable A2A agent.

  --store <name>       where tasks are kept:
${rows(stores)}  --template <name>    the kind of agent:
${rows(templates)}  --yes                do not ask: the first of each, in my-agent
  --help, --version
`;

/** Reads the arguments. Throws an `InputError` that names the one that is wrong. */
export function readOptions(args: readonly string[]): Options | 'help' | 'version' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  const [folder, ...more] = positionals;
  if (more.length > 0) throw new InputError(`One folder is enough: ${more.join(' ')}`);
  if (folder === '') throw new InputError('The folder has no name. "." is this one');
  return {
    yes: values.yes ?? false,
    ...(folder !== undefined && { folder }),
    ...(values.store !== undefined && { store: chosen('--store', values.store, stores) }),
    ...(values.template !== undefined && { template: chosen('--template', values.template, templates) }),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        store: { type: 'string' },
        template: { type: 'string' },
        yes: { type: 'boolean', short: 'y' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new InputError((error as Error).message);
  }
}
