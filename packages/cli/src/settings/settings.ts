import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Command, Option } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { secretFlags, unsettable } from '../flags/agent-flags.ts';
import type { Io } from '../io.ts';

/** Where a value comes from, strongest first. */
export type SettingSource = 'flag' | 'environment' | 'given file' | 'local file' | 'global file' | 'default';

/** A value for a flag, and where it stands. */
export interface Setting {
  readonly value: string;
  readonly source: Exclude<SettingSource, 'flag' | 'default'>;
  /** The file, for those that stand in one. */
  readonly path?: string;
  /** Whether it is for the agent card in use alone. */
  readonly isForAgent: boolean;
}

interface Layer {
  readonly source: Setting['source'];
  readonly path?: string;
  readonly values: Readonly<Record<string, string | undefined>>;
}

/** Values for flags from the environment, the local file and the global file. */
export class Settings {
  readonly #layers: readonly Layer[];

  /** `file` replaces the nearest `.env` above the working directory. Throws if it cannot be read. */
  constructor({ env, cwd, home }: Pick<Io, 'env' | 'cwd' | 'home'>, file?: string) {
    const local = file === undefined ? nearest(cwd) : readLayer('given file', file);
    if (file !== undefined && !local) throw usage(`The file ${file} cannot be read`);
    const global = readLayer('global file', globalFile(home));
    this.#layers = [
      { source: 'environment' as const, values: env },
      ...(local ? [local] : []),
      ...(global ? [global] : []),
    ];
  }

  /** The value for a flag. One for the agent card in use wins over one for all, within the same source. */
  find(longFlag: string, agentCard?: string): Setting | undefined {
    const name = variableOf(longFlag);
    const names = agentCard === undefined ? [name] : [`${name}@${agentCard}`, name];
    for (const { source, path, values } of this.#layers)
      for (const each of names) {
        const value = values[each];
        if (value !== undefined && value !== '')
          return { value, source, isForAgent: each !== name, ...(path !== undefined && { path }) };
      }
    return undefined;
  }
}

export const globalFile = (home: string): string => join(home, '.config/a2a-cli/.env');

/** The nearest `.env` that has a setting for this tool: others belong to other tools. */
function nearest(cwd: string): Layer | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const layer = readLayer('local file', join(folder, '.env'));
    if (layer && Object.keys(layer.values).length > 0) return layer;
    if (folder === dirname(folder)) return undefined;
  }
}

/** A file that exists; only its variables for this tool. */
function readLayer(source: Layer['source'], path: string): Layer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  const all = Object.entries(parseEnv(text));
  return { source, path, values: Object.fromEntries(all.filter(([name]) => name.startsWith('A2ACLI_'))) };
}

/** Whether a flag may be set by a variable: not by its alias, and not those that only make sense on a command line. */
export const isSettable = (option: Option): boolean =>
  option.long !== undefined &&
  option.long !== null &&
  !option.hidden &&
  !unsettable.has(option.attributeName());

/**
 * Fills in the flags that the command line does not give. Throws for a value that the flag would refuse, and for a
 * credential that the file of a folder would send elsewhere.
 */
export function applySettings(command: Command, settings: Settings): void {
  const card = command.options.find(({ long }) => long === '--agent-card');
  if (card) applyOne(command, card, settings.find('--agent-card'));
  const agentCard = command.getOptionValue('agentCard') as string | undefined;
  const forAgent = new Set<string>();
  for (const option of command.options) {
    if (option === card || !isSettable(option)) continue;
    const setting = settings.find(option.long!, agentCard);
    applyOne(command, option, setting);
    if (setting?.isForAgent) forAgent.add(option.attributeName());
  }
  checkDestination(command, forAgent);
}

function applyOne(command: Command, option: Option, setting: Setting | undefined): void {
  const name = option.attributeName();
  if (!setting || command.getOptionValueSource(name) === 'cli') return;
  const { value, source } = setting;
  command.setOptionValueWithSource(name, parsed(option, value), source);
}

function parsed(option: Option, value: string): unknown {
  if (!option.required && !option.optional) {
    if (/^(1|true|yes)$/i.test(value)) return true;
    if (/^(0|false|no)$/i.test(value)) return undefined;
    throw usage(`${variableOf(option.long!)} is true or false`);
  }
  try {
    return option.parseArg ? option.parseArg(value, undefined as never) : value;
  } catch (error) {
    throw usage(`${variableOf(option.long!)}: ${(error as Error).message}`);
  }
}

/** Flags that decide who receives a credential, or who can read it on its way. */
const destinations = ['agentCard', 'endpoint', 'authorizationServer', 'insecure', 'tlsCa'] as const;

/** What sets a flag: `local file` is one that was found in a folder above, which may be a stranger's. */
type SourceOf = (name: string) => string | undefined;

/**
 * Refuses a credential of the user if the `.env` of a folder decides where it goes: the maker of the folder could take it.
 * A credential in the same file goes where that file says, and one that is kept for an agent goes to that agent.
 * `forAgent`: the flags whose value is kept for the agent card in use. Throws `USAGE`.
 */
function checkDestination(command: Command, forAgent: ReadonlySet<string>): void {
  const sourceOf: SourceOf = (name) => command.getOptionValueSource(name);
  const redirecting = destinations.filter((name) => sourceOf(name) === 'local file');
  if (redirecting.length === 0) return;
  const isElsewhere = redirecting.some((name) => name !== 'agentCard');
  const redirected = command.options
    .map((option) => option.attributeName())
    .filter((name) => secretFlags.has(name) && ![undefined, 'default', 'local file'].includes(sourceOf(name)))
    .find((name) => isElsewhere || !forAgent.has(name));
  if (redirected !== undefined) throw redirects(redirecting[0]!, `the value of ${flagOf(redirected)}`);
  if (redirecting.includes('authorizationServer')) throw redirects('authorizationServer', 'a login');
}

/** Refuses a kept token if the `.env` of a folder lets others read it on its way. Throws `USAGE`. */
export function checkKeptToken(command: Command): void {
  const weakening = (['insecure', 'tlsCa'] as const).find(
    (name) => command.getOptionValueSource(name) === 'local file',
  );
  if (weakening) throw redirects(weakening, 'the token of auth login');
}

const redirects = (name: string, what: string) =>
  usage(
    `The .env of a folder sets ${variableOf(flagOf(name))}, which must not decide where ${what} goes`,
    `Give ${flagOf(name)} on the command line, or name the file with --config if you trust it`,
  );

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** `--agent-card` is `A2ACLI_AGENT_CARD`. */
export const variableOf = (longFlag: string): string =>
  `A2ACLI_${longFlag.replace(/^--/, '').replaceAll('-', '_').toUpperCase()}`;

/** A token of `auth login`. */
export interface StoredToken {
  readonly accessToken: string;
  /** ISO 8601; absent if the server did not say. */
  readonly expiresAt?: string;
}

const pathOf = (home: string, name: string): string => join(home, `.config/a2a-cli/${name}.json`);

/** The token of an agent's origin that is still valid; undefined if there is none. */
export function tokenFor(home: string, origin: string, now = Date.now()): StoredToken | undefined {
  const token = readAll<StoredToken>(home, 'tokens')[origin];
  return token && (token.expiresAt === undefined || Date.parse(token.expiresAt) > now) ? token : undefined;
}

export const keepToken = (home: string, origin: string, token: StoredToken): string =>
  keep(home, 'tokens', origin, token);

/** The address of an upload that did not end; undefined if there is none. */
export const uploadOf = (home: string, file: string): string | undefined =>
  readAll<string>(home, 'uploads')[file];

/** Keeps the address of an upload, or forgets it. */
export const keepUpload = (home: string, file: string, address?: string): string =>
  keep(home, 'uploads', file, address);

/** Keeps a value in a file that only its user can read, whose path it returns. */
function keep(home: string, name: string, key: string, value: unknown): string {
  const path = pathOf(home, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify({ ...readAll(home, name), [key]: value }, undefined, 2)}\n`, {
    mode: 0o600,
  });
  chmodSync(next, 0o600);
  renameSync(next, path);
  return path;
}

function readAll<Value>(home: string, name: string): Record<string, Value> {
  try {
    return JSON.parse(readFileSync(pathOf(home, name), 'utf8')) as Record<string, Value>;
  } catch {
    return {};
  }
}
