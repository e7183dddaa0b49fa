import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { choicesOn, chosen, hosts, InputError, type Project, stores, templates } from './choices.ts';
import { projectName } from './project-files.ts';
import { checkEmpty } from './write-project.ts';

/** What the program was told. The program asks for the rest, unless `yes`. */
interface Options extends Partial<Project> {
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
${rows(templates)}  --host <name>        where it runs, if no process stays there:
${rows(hosts)}  --yes                do not ask: the first of each, in my-agent
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
  const host = values.host === undefined ? undefined : chosen('--host', values.host, hosts);
  const offered = choicesOn(host);
  const on = host ? ` with --host ${host}` : '';
  const store = values.store ?? (host === 'cloudflare' ? 'sqlite' : undefined);
  return {
    yes: values.yes ?? false,
    ...(folder !== undefined && { folder }),
    ...(host && { host }),
    ...(store !== undefined && { store: chosen(`--store${on}`, store, offered.stores) }),
    ...(values.template !== undefined && {
      template: chosen(`--template${on}`, values.template, offered.templates),
    }),
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
        host: { type: 'string' },
        yes: { type: 'boolean', short: 'y' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new InputError((error as Error).message);
  }
}

/** The folder where none is named. */
export const usualFolder = 'my-agent';

/**
 * Asks for what the options leave open: at most three questions, each again until the answer is possible. Rejects with
 * an `AbortError` when the user leaves.
 */
export async function ask(options: Options, input: Readable, output: Writable): Promise<Project> {
  const terminal = createInterface({ input, output });
  const { stores, templates } = choicesOn(options.host);
  const leave = new AbortController();
  terminal.once('close', () => leave.abort());
  const question = async <T>(text: string, read: (answer: string) => T): Promise<T> => {
    for (;;) {
      const answer = await terminal.question(text, { signal: leave.signal });
      try {
        return read(answer.trim());
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        output.write(`${error.message}\n`);
      }
    }
  };
  try {
    const folder =
      options.folder ??
      (await question(`Folder (${usualFolder}): `, (answer) => checkFolder(answer || usualFolder)));
    const store = options.store ?? (await question(menu('Where are tasks kept?', stores), pick(stores)));
    const template =
      options.template ?? (await question(menu('Which kind of agent?', templates), pick(templates)));
    return { folder, store, template, ...(options.host && { host: options.host }) };
  } finally {
    terminal.close();
  }
}

/** The folder, if a project can be written there. Throws an `InputError` if not. */
export function checkFolder(folder: string): string {
  projectName(folder);
  checkEmpty(folder);
  return folder;
}

function menu(title: string, choices: Readonly<Record<string, string>>): string {
  const rows = Object.entries(choices).map(([name, about], n) => `  ${n + 1} ${name.padEnd(10)} ${about}\n`);
  return `${title}\n${rows.join('')}(1): `;
}

/** A choice by its number or name; the first for an empty answer. */
const pick =
  <Name extends string>(choices: Readonly<Partial<Record<Name, string>>>) =>
  (answer: string): Name => {
    const names = Object.keys(choices) as Name[];
    return names[Number(answer || '1') - 1] ?? chosen('The answer', answer, choices);
  };
