import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { secretFlags } from '../flags/agent-flags.ts';
import { variableOf } from './variable-of.ts';

/** Flags that decide who receives a credential, or who can read it on its way. */
const destinations = ['agentCard', 'endpoint', 'authorizationServer', 'insecure', 'tlsCa'] as const;

/** What sets a flag: `local file` is one that was found in a folder above, which may be a stranger's. */
type SourceOf = (name: string) => string | undefined;

/**
 * Refuses a credential of the user if the `.env` of a folder decides where it goes: the maker of the folder could take it.
 * A credential in the same file goes where that file says, and one that is kept for an agent goes to that agent.
 * `forAgent`: the flags whose value is kept for the agent card in use. Throws `USAGE`.
 */
export function checkDestination(command: Command, forAgent: ReadonlySet<string>): void {
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
