import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { root } from '../../../test/repository/source-files.ts';
import { toDuration } from '../src/flags/duration.ts';
import { allOf, createProgram } from '../src/run-cli.ts';
import { cli } from './cli.ts';

/** The words that lead to each command. */
function pathsOf(): string[][] {
  const wordsOf = (command: Command): string[] =>
    command.parent ? [...wordsOf(command.parent), command.name()] : [];
  const io = { stdout: { write: () => {} }, program: 'baton', env: {}, cwd: '/', home: '/' };
  return allOf(createProgram(io as never, '1.2.3', () => async () => {})).map(wordsOf);
}

it('the help of every command is what the golden file says', async () => {
  const texts: string[] = [];
  for (const words of pathsOf()) {
    const { stdout, code, stderr } = await cli([...words, '--help']);
    expect([words, code, stderr]).toEqual([words, 0, '']);
    texts.push(`$ ${['baton', ...words].join(' ')} --help\n${stdout}`);
  }
  await expect(texts.join('\n')).toMatchFileSnapshot('golden/help.txt');
});

it('no output names a duration in another way than a flag would be given', async () => {
  const { json } = await cli('config show -o json');
  const timed = new Set<string>();
  for (const words of pathsOf()) {
    const { stdout } = await cli([...words, '--help']);
    const text = stdout.replaceAll(/\s+/g, ' ');
    expect(text).not.toMatch(/\d (ms|s|milliseconds|seconds)\b/);
    for (const [, name, about] of text.matchAll(/--([a-z-]+) <duration> (.*?)(?= -[a-z-]|$)/g)) {
      timed.add(name!);
      const [, usual] = /; default: (\S+)\]/.exec(about!) ?? [];
      if (usual !== undefined) expect([name, toDuration(usual)]).toEqual([name, expect.any(Number)]);
    }
  }
  for (const { name, value } of json.settings)
    if (timed.has(name) && value !== null) expect(toDuration(value)).toEqual(expect.any(Number));
  expect(json.settings).toContainEqual(expect.objectContaining({ name: 'poll-interval', value: '2s' }));
  // What is written while a command runs: no text puts a unit behind a number of its own.
  for (const file of globSync('packages/cli/src/**/!(duration).ts', { cwd: root }))
    expect([file, /\} ?m?s\b/.exec(readFileSync(join(root, file), 'utf8'))?.[0]]).toEqual([file, undefined]);
});

it('`npx @batonjs/cli` is `baton`: npx takes the first name of a program that has several', async () => {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } });
  expect(Object.keys(manifest.bin)[0]).toBe('baton');
  expect(new Set(Object.values(manifest.bin)).size).toBe(1);
});

it.each(['bash', 'zsh', 'fish'])('the completion of %s is what the golden file says', async (shell) => {
  const { stdout, code } = await cli(`completion ${shell}`);
  expect(code).toBe(0);
  await expect(stdout).toMatchFileSnapshot(`golden/completion.${shell}.txt`);
});

it('shows each default that is in effect, and no secret', async () => {
  const env = {
    A2ACLI_TIMEOUT: '5s',
    A2ACLI_CLIENT_SECRET: 's3cret',
    A2ACLI_SVC_PARAM: 'a:s3cret',
    A2ACLI_TOKEN: 's3cret',
    A2ACLI_API_KEY: 's3cret',
    A2ACLI_BEARER: 's3cret',
  };
  const helpOf = async (words: string) =>
    (await cli(`${words} --help`, { env })).stdout.replaceAll(/\s+/g, ' ');
  expect(await helpOf('send')).toContain('[A2ACLI_TIMEOUT; default: 5s (environment)]');
  for (const [words, name] of [
    ['send', 'SVC_PARAM'],
    ['send', 'API_KEY'],
    ['send', 'BEARER'],
    ['auth login', 'CLIENT_SECRET'],
    ['task push-config receive', 'TOKEN'],
  ] as const) {
    const help = await helpOf(words);
    expect(help).toContain(`[A2ACLI_${name}; default: set (environment)]`);
    expect(help).not.toContain('s3cret');
  }
});

it.each<[line: string, error: string]>([
  ['', 'Error: A command is missing\nCode: A2ACLI_ERR_USAGE\nHint: baton --help\n'],
  ['task', 'Error: A command is missing\nCode: A2ACLI_ERR_USAGE\nHint: baton task --help\n'],
  [
    'sned',
    "Error: unknown command 'sned' (Did you mean send?)\nCode: A2ACLI_ERR_USAGE\nHint: baton --help\n",
  ],
  [
    'task get',
    "Error: missing required argument 'id'\nCode: A2ACLI_ERR_USAGE\nHint: baton task get --help\n",
  ],
  [
    'task list --page-size 0',
    "Error: option '--page-size <n>' argument '0' is invalid. It is a whole number, 1 or more.\nCode: A2ACLI_ERR_USAGE\nHint: baton task list --help\n",
  ],
  [
    'task list --state asleep',
    "Error: option '--state <state>' argument 'asleep' is invalid. A state is one of submitted, working, input-required, auth-required, completed, failed, canceled, rejected.\nCode: A2ACLI_ERR_USAGE\nHint: baton task list --help\n",
  ],
  [
    'server --port abc',
    "Error: option '--port <port>' argument 'abc' is invalid. It is a whole number, 0 or more.\nCode: A2ACLI_ERR_USAGE\nHint: baton demo-server --help\n",
  ],
  [
    'send hi',
    'Error: No agent is given\nCode: A2ACLI_ERR_USAGE\nHint: Give --agent-card, for example baton card get -a localhost:4000\n',
  ],
  ['send -e http://a hi', 'Error: --endpoint needs exactly one --transport\nCode: A2ACLI_ERR_USAGE\n'],
  [
    'send --media-type a',
    'Error: --media-type stands after the part that it belongs to\nCode: A2ACLI_ERR_USAGE\n',
  ],
  [
    'send',
    'Error: There is nothing to send\nCode: A2ACLI_ERR_USAGE\nHint: Give a text, or one of --text, --file and --data\n',
  ],
  [
    'send --data {',
    `Error: --data is JSON\nCode: A2ACLI_ERR_USAGE\nHint: For example --data '{"amount": 100}'\n`,
  ],
  [
    'send --file /dev/null/such',
    'Error: The file /dev/null/such cannot be read: ENOTDIR\nCode: A2ACLI_ERR_USAGE\n',
  ],
  [
    'send -a a.example --a2a-version 2 hi',
    'Error: Version 2 is not supported\nCode: A2ACLI_ERR_USAGE\nHint: There are 1.0 and 0.3\n',
  ],
  [
    'send -a a.example --tls-cert x hi',
    'Error: --tls-cert and --tls-key belong together\nCode: A2ACLI_ERR_USAGE\n',
  ],
  [
    'send -a a.example --tls-ca /dev/null/such hi',
    'Error: The file /dev/null/such cannot be read\nCode: A2ACLI_ERR_USAGE\n',
  ],
  ['card get -e http://a --transport rest', 'Error: --endpoint has no card\nCode: A2ACLI_ERR_USAGE\n'],
  [
    'completion tcsh',
    'Error: There is no completion for tcsh\nCode: A2ACLI_ERR_USAGE\nHint: There are bash, zsh and fish\n',
  ],
  [
    'doctor',
    'Error: There is nothing to check\nCode: A2ACLI_ERR_USAGE\nHint: Give --store, --agent-card or both\n',
  ],
  [
    'tasks --store mysql://a',
    'Error: A store is sqlite:<path>, redis://…, postgres://… or etcd://…\nCode: A2ACLI_ERR_USAGE\n',
  ],
  [
    'tasks --store sqlite:/dev/null/such',
    'Error: There is no file /dev/null/such\nCode: A2ACLI_ERR_UNREACHABLE\nHint: Check the path, and that the agent has run with it once\n',
  ],
  ['auth login -a a.example', 'Error: --client-id is missing\nCode: A2ACLI_ERR_USAGE\n'],
  [
    'auth login --client-id x',
    'Error: A file does not say which agent gets the token\nCode: A2ACLI_ERR_USAGE\nHint: Give the address of the agent\n',
  ],
  [
    'send --config /dev/null/such -a a.example hi',
    'Error: The file /dev/null/such cannot be read\nCode: A2ACLI_ERR_USAGE\n',
  ],
  ['dev /dev/null/such', 'Error: There is no file /dev/null/such\nCode: A2ACLI_ERR_USAGE\n'],
])('says what is wrong with: %s', async (line, error) => {
  const { stdout, stderr } = await cli(line);
  expect([stdout, stderr]).toEqual(['', error]);
});

it.each([
  [['-o', 'json'], true],
  [['--output', 'json'], true],
  [['--output=json'], true],
  [['-o=json'], true],
  [['-ojson'], true],
  [['-o', 'text', 'json'], false],
  [['--output', 'text'], false],
  [['x--output=json'], false],
  [['--output=jsonx'], false],
])('a command line that makes no sense, with %j, asks for JSON: %s', async (flags, isJson) => {
  const { stdout, stderr } = await cli(['task', ...flags, '--nope']);
  expect(stdout !== '').toBe(isJson);
  expect(stderr === '').toBe(isJson);
  if (isJson) expect(stdout).toMatch(/^\{\n {2}"error": \{\n/);
  if (isJson)
    expect((await cli(['task', ...flags, '--stream', '--nope'])).stdout).toMatch(/^\{"error":\{.*\n$/);
});
