import type { Struct } from '@batonjs/protocol';
import { isObject, tryJson } from '@batonjs/protocol/json';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { toDuration } from './duration.ts';

/** Flags that may be given: those with a text, and those without a value. */
export type Flags<Text extends string, Switch extends string = never> = {
  readonly [Name in Text | Switch]?: Name extends Text ? string : boolean;
};

/** What every command that talks to an agent takes, and flags of its own. Times in milliseconds. */
export type CommonOptions<Text extends string = never, Switch extends string = never> = AgentFlags &
  Flags<Text, Switch>;

interface AgentFlags
  extends Flags<
    'agentCard' | 'endpoint' | 'bearer' | 'apiKey' | 'a2aVersion' | 'tlsCert' | 'tlsKey' | 'tlsCa' | 'config',
    'stream' | 'insecure' | 'verbose' | 'debug' | 'fail'
  > {
  readonly output: 'text' | 'json';
  readonly timeout?: number;
  readonly svcParam?: Readonly<Record<string, string>>;
  readonly transport?: readonly string[];
  readonly progress: 'auto' | 'never';
}

/** Flags whose values must not be shown. */
export const secretFlags: ReadonlySet<string> = new Set([
  'bearer',
  'apiKey',
  'svcParam',
  'clientSecret',
  'token',
]);

/** Flags that only the command line sets. */
export const unsettable: ReadonlySet<string> = new Set([
  'stream',
  'help',
  'version',
  'config',
  'envFile',
  // Parts belong to one message.
  'text',
  'file',
  'data',
  'mediaType',
  // Which files are written must not depend on the folder that the tool runs in.
  'dir',
  'force',
  // Which tasks are changed must not depend on it either.
  'all',
  'allCallers',
  'yes',
  'resume',
  'from',
  'to',
  'message',
  'setLabel',
]);

export const outputFlag = () =>
  new Option('-o, --output <format>', 'the format of the result').choices(['text', 'json']).default('text');

export const addOutputFlags = (command: Command): Command =>
  command
    .addOption(outputFlag())
    .option('--verbose', 'show everything that was exchanged')
    .option('--debug', 'diagnostics of this tool and wire messages, on standard error')
    .option('--config <path>', 'read settings from this file instead of the nearest .env')
    .addOption(new Option('--env-file <path>').hideHelp());

/** Gives a command below this one its flags, too. */
export const passFlagsOn = (command: Command): Command =>
  command.hook('preAction', (_, below) => {
    for (const [name, value] of Object.entries(command.opts()))
      if (below.getOptionValue(name) === undefined) below.setOptionValue(name, value);
  });

export const addExample = (command: Command, line: string): Command =>
  command.addHelpText('after', `\nExample:\n  $ baton ${line}\n`);

/** Adds the flags of every command that talks to an agent. */
export const addAgentFlags = (command: Command): Command =>
  addOutputFlags(
    command
      .option('-a, --agent-card <ref>', 'the agent: a host, the URL of its card, or a file with its card')
      .option('-e, --endpoint <url>', 'call this URL without a card; needs exactly one --transport')
      .option(
        '--transport <binding>',
        'preferred binding: jsonrpc, rest or grpc; repeatable, in order',
        addTransport,
      )
      .option(
        '--a2a-version <version>',
        'version of the protocol, sent with every request; below 1.0 only if given',
      )
      .option(
        '--bearer <token>',
        'bearer token; other users see it in the process table and shell history: prefer A2ACLI_BEARER',
      )
      .option(
        '--api-key <key>',
        'API key; other users see it in the process table and shell history: prefer A2ACLI_API_KEY',
      )
      .option(
        '--svc-param <name:value>',
        'service parameter: a header of HTTP, or metadata of gRPC; repeatable',
        addServiceParameter,
      )
      .option('--timeout <duration>', 'how long to wait at most, such as 30s', toDuration)
      .option('--insecure', 'do not verify TLS certificates')
      .option('--tls-cert <file>', 'certificate of this client in PEM, for mutual TLS')
      .option('--tls-key <file>', 'key of that certificate in PEM')
      .option('--tls-ca <file>', 'certificates in PEM to trust besides the usual ones'),
  );

/** Adds the flag of formats that print one JSON document per line as it happens. */
export const addStreamFlag = (command: Command): Command =>
  command.option('--stream', 'show events as they happen; with -o json one per line');

export const addWaitFlags = (command: Command): Command =>
  command
    .option(
      '--poll-interval <duration>',
      'how often a task is read that cannot be streamed',
      toDuration,
      2_000,
    )
    .option('--fail', 'end with 6 where the task FAILED or was REJECTED; else its outcome is no failure')
    .addOption(
      new Option('--progress <when>', 'a progress bar on standard error')
        .choices(['auto', 'never'])
        .default('auto'),
    );

/** The bindings that are built in, as cards name them, by the names that users may give. */
const bindings: Readonly<Record<string, string>> = {
  jsonrpc: 'JSONRPC',
  'json-rpc': 'JSONRPC',
  rest: 'HTTP+JSON',
  'http+json': 'HTTP+JSON',
  grpc: 'GRPC',
};

/** Adds a binding, or several with commas between them, to the preferred ones. */
export function addTransport(text: string, earlier: readonly string[] = []): readonly string[] {
  const named = text.split(',').map((name) => {
    const binding = bindings[name.trim().toLowerCase()];
    if (!binding) throw new InvalidArgumentError('A transport is jsonrpc, rest or grpc.');
    return binding;
  });
  return [...earlier, ...named];
}

/** Reads `name:value` of a service parameter, and adds it to the earlier ones. */
export function addServiceParameter(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const match = /^([!#$%&'*+.^_`|~\w-]+):\s*([^\r\n]*)$/.exec(text);
  if (!match) throw new InvalidArgumentError('A service parameter is name:value.');
  const [, name = '', value = ''] = match;
  return { ...earlier, [name.toLowerCase()]: value };
}

/** Reads a JSON object. */
export function toMetadata(text: string): Struct {
  const value = tryJson(text);
  if (!isObject(value)) throw new InvalidArgumentError('Metadata is a JSON object.');
  return value as Struct;
}

/** Reads a whole number of at least `least`. */
export const toCount =
  (least: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d{1,9}$/.test(text) || value < least)
      throw new InvalidArgumentError(`It is a whole number, ${least} or more.`);
    return value;
  };

/** Adds a text to the earlier ones. */
export const toTexts = (text: string, earlier: readonly string[] = []): readonly string[] => [
  ...earlier,
  text,
];

/** Reads `20/s`, or `20`, as a number a second. */
export function toRate(text: string): number {
  const [, number = ''] = /^(\d{1,6}(?:\.\d{1,3})?)(?:\/s)?$/.exec(text) ?? [];
  if (!(Number(number) > 0)) throw new InvalidArgumentError('A rate is a number a second, such as 20/s.');
  return Number(number);
}
