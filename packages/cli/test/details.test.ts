import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { extend, formInput, inputRequired } from '@batonjs/extensions';
import { completed } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { many, manyCard, serveMany } from './agents.ts';
import { abortedAfterTest, cli } from './cli.ts';
import { message, serveRpc, taskOf } from './rpc.ts';
import { oauth, requires, serveSecured } from './secured-agent.ts';

/** An agent over JSON-RPC that answers with the results of a list, one after the other. */
const serveResults = (results: readonly object[]) =>
  serveRpc((_, count) => results[Math.min(count, results.length - 1)]);

const refusal = { error: { code: -32004, message: 'Not offered' } };

describe('a wait by reading', () => {
  it('reads so many messages as are asked for', async () => {
    for (const [flags, params] of [
      ['', { id: 't' }],
      ['--wait', { id: 't' }],
      ['--history 2', { id: 't', historyLength: 2 }],
      ['--history 2 --wait', { id: 't', historyLength: 2 }],
      ['--watch --history 0', { id: 't', historyLength: 0 }],
    ] as const) {
      const { line, calls } = await serveResults([taskOf('COMPLETED')]);
      await cli(`task get t ${line} ${flags}`);
      expect(calls[0]!.params).toEqual(params);
    }
  });

  it('ends at once when it is interrupted between two reads', async () => {
    const stop = abortedAfterTest();
    const { line } = await serveResults([taskOf('WORKING')]);
    const ran = await cli(`task get t ${line} --wait --poll-interval 1h`, {
      signal: stop.signal,
      isTTY: true,
      env: { TERM: 'xterm' },
      onWrite: (_, written) => written.includes('TASK_STATE_WORKING') && stop.abort(),
    });
    expect([ran.code, ran.stdout]).toEqual([130, '']);
    expect(ran.stderr).toContain('Waiting for task t: Ctrl-C ends the wait, not the task');
  });
});

describe('a message', () => {
  it('has the media types of its files by their names', async () => {
    const folder = temporaryFolder();
    const types = {
      txt: 'text/plain',
      md: 'text/markdown',
      html: 'text/html',
      csv: 'text/csv',
      json: 'application/json',
      pdf: 'application/pdf',
      png: 'image/png',
      jpg: 'image/jpeg',
      jpeg: 'image/jpeg',
      GIF: 'image/gif',
      webp: 'image/webp',
      svg: 'image/svg+xml',
      mp3: 'audio/mpeg',
      wav: 'audio/wav',
      mp4: 'video/mp4',
      other: 'application/octet-stream',
    };
    const flags = Object.keys(types).flatMap((extension) => {
      writeFileSync(join(folder, `a.${extension}`), 'hi');
      return ['--file', join(folder, `a.${extension}`)];
    });
    const { line, calls } = await serveResults([message]);
    await cli(['send', ...line.split(' '), ...flags]);
    expect((calls[0]!.params.message as { parts: object[] }).parts).toEqual(
      Object.entries(types).map(([extension, mediaType]) => ({
        raw: 'aGk=',
        filename: `a.${extension}`,
        mediaType,
      })),
    );
  });

  it('is awaited or not as the command line says, whatever the settings say [R-CLI-24]', async () => {
    for (const [flags, env, isAsync] of [
      ['', {}, false],
      ['--async', {}, true],
      ['--return-immediately', {}, true],
      ['--no-wait', {}, true],
      ['--wait', {}, false],
      ['--async --wait', {}, false],
      ['', { A2ACLI_ASYNC: 'true' }, true],
      ['--wait', { A2ACLI_ASYNC: 'true' }, false],
    ] as const) {
      const { line, url } = await serveResults(
        [refusal, { task: taskOf('COMPLETED') }].slice(isAsync ? 1 : 0),
      );
      const { stdout, stderr } = await cli(`send hi ${line} ${flags}`, { env });
      expect([
        flags,
        env,
        stdout.includes(`Follow: baton task get t --wait -e ${url} --transport JSONRPC\n`),
      ]).toEqual([flags, env, isAsync]);
      expect(stderr === '').toBe(isAsync);
    }
  });
});

describe('an agent', () => {
  it.each([
    ['', '1.0'],
    ['--a2a-version 1', '1.0'],
    ['--a2a-version 1.0.3', '1.0'],
    ['--a2a-version 0.3', '0.3'],
    ['--a2a-version 0.3.1', '0.3'],
  ])('at an endpoint is spoken to in a version: %s', async (flags, version) => {
    const { line, url } = await serveResults([message]);
    const { stderr } = await cli(`send hi ${line} ${flags} --async --debug`);
    expect(stderr).toContain(`debug: uses JSONRPC ${version} at ${url}\n`);
  });

  it.each(['2', '1.x', '1.0.0.0', '0.3x', '10.3', 'x1'])(
    'is not spoken to in the version %s',
    async (version) => {
      const { code, stderr } = await cli(`send hi -a a.example --a2a-version ${version}`);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`Error: Version ${version} is not supported\n`),
      ]);
    },
  );

  it('at an endpoint gets credentials where most agents look for them', async () => {
    const { line, calls } = await serveResults([message]);
    const { stderr } = await cli(`send hi ${line} --async --bearer s3cret --api-key k3y --svc-param x-a:b`);
    expect(calls[0]!.headers).toMatchObject({
      authorization: 'Bearer s3cret',
      'x-api-key': 'k3y',
      'x-a': 'b',
    });
    expect(stderr).toBe('Warning: A CREDENTIAL IS SENT OVER A CONNECTION THAT IS NOT VERIFIED\n');
    await cli(`send hi ${line} --async`);
    expect(calls[1]!.headers).not.toHaveProperty('authorization');
    expect(calls[1]!.headers).not.toHaveProperty('x-api-key');
  });

  it('is called over the first binding that is preferred and there, and its card is found over gRPC alone', async () => {
    const server = serve(many, { card: manyCard });
    const listener = await listenGrpc(server, { port: 0 });
    onTestFinished(() => listener.close({ graceMs: 0 }));
    const supportedInterfaces = [{ url: listener.address, protocolBinding: 'GRPC', protocolVersion: '1.0' }];
    const cwd = temporaryFolder();
    const write = (more: object[]) =>
      writeFileSync(
        join(cwd, 'card.json'),
        JSON.stringify({
          ...manyCard,
          version: '1',
          capabilities: {},
          skills: [],
          supportedInterfaces: [...supportedInterfaces, ...more],
        }),
      );
    const used = async (flags = '') =>
      /uses (\S+)/.exec((await cli(`task list -a card.json ${flags} --debug`, { cwd })).stderr)?.[1];
    write([]);
    expect(await used()).toBe('GRPC');
    expect(await used('--transport rest')).toBe('GRPC');
    const http = await serveMany();
    write([
      { url: http, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: http, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ]);
    expect(await used()).toBe('GRPC');
    expect(await used('--transport rest,jsonrpc')).toBe('HTTP+JSON');
    expect(await used('--transport jsonrpc --transport rest')).toBe('JSONRPC');
    const doctor = await cli(`doctor -e ${listener.address} --transport grpc -o json`);
    expect(doctor.json.findings).toContainEqual({
      check: 'clock of the agent',
      result: 'skipped',
      note: 'does not apply',
    });
    expect(doctor.json.findings[0]).toMatchObject({ check: 'agent answers', result: 'ok' });
    const url = await listen(
      createServer((_, response) => response.end(readFileSync(join(cwd, 'card.json')))),
    );
    write([]);
    expect((await cli(`send -a ${url} -o json message`)).json).toHaveProperty('message');
  });

  it('that requires extensions is told that they are known', async () => {
    const capabilities = { extensions: [{ uri: 'http://a', required: true }, { uri: 'http://b' }] };
    const { url, seen } = await serveSecured({ capabilities } as never);
    await cli(`send -a ${url} --async hi`);
    expect(seen[0]!.headers['a2a-extensions']).toBe('http://a');
  });
});

describe('the keys of a signature', () => {
  const signed = { signatures: [{ protected: 'e30', signature: 'x' }] };
  it.each<[flags: string, shown: RegExp | string]>([
    ['', 'Signature: unverifiable (no keys: give --jwks)\n'],
    ['--jwks /dev/null/such', 'Error: The keys in /dev/null/such cannot be read\nCode: A2ACLI_ERR_USAGE\n'],
    ['--jwks text.json', 'Error: The keys in text.json cannot be read\nCode: A2ACLI_ERR_USAGE\n'],
  ])('%s', async (flags, shown) => {
    const { url } = await serveSecured(signed as never);
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'text.json'), 'text');
    const { stdout, stderr } = await cli(`card get ${url} ${flags}`, { cwd });
    expect(stdout + stderr).toContain(shown);
    if (flags === '') expect((await cli(`card get ${url} -o json`, { cwd })).stderr).toBe(shown as string);
  });
});

describe('chat', () => {
  it.each([
    [true, true, '> > '],
    [false, true, ''],
    [true, false, ''],
    [false, false, ''],
  ])(
    'prompts a person: standard error is a terminal %s, standard input %s',
    async (isTTY, isStdinTTY, prompts) => {
      const { line } = await serveResults([message]);
      const { stderr } = await cli(`chat ${line} --progress never`, { isTTY, isStdinTTY, stdin: ' \n' });
      expect(stderr).toBe(prompts);
    },
  );

  it('asks a person for the fields of a form, each until what was entered fits', async () => {
    const form = z.object({
      approved: z.boolean().meta({ title: 'Approve it?' }),
      cents: z.int().max(10_000),
      tags: z.array(z.enum(['travel', 'food'])).optional(),
      note: z.string().optional(),
    });
    const about = { card: { name: 'Expenses', description: 'Asks' } };
    const { card, agent } = extend(
      {
        ...about,
        async *agent({ values }) {
          if (values.approved === undefined)
            return yield inputRequired('Pay?', { form, initial: { cents: 900 } });
          yield completed(JSON.stringify(values));
        },
      },
      formInput,
    );
    const url = await listen(createServer(nodeHandler(serve(agent, { card }))));
    const stdin = 'go\nmaybe\nYes, please\n10001\n\ntravel, 2\n\n';
    const terminal = { isTTY: true, isStdinTTY: true, stdin };
    const { stdout, stderr } = await cli(`chat -a ${url} --progress never`, terminal);
    const [choice, cents] = ['Approve it? (1 Yes, 2 No): ', 'Cents (now 900): '];
    const tags = 'Tags (1 travel, 2 food; optional): Note (optional): ';
    const prompts = `> ${choice}Choose one\n${choice}${cents}At most 10,000\n${cents}${tags}> `;
    expect(stderr.replaceAll(/^Waiting for task.*\n/gm, '')).toBe(prompts);
    expect(stdout).toContain('{"approved":true,"cents":900,"tags":["travel","food"]}');
    const words = await cli(`chat -a ${url}`, { stdin: 'go\n' });
    expect([words.stdout, words.stderr]).toEqual([
      expect.not.stringContaining('schema'),
      expect.not.stringContaining('Approve'),
    ]);
  });

  it('ends when it is interrupted while a person thinks', async () => {
    const stop = abortedAfterTest();
    let prompts = 0;
    const thinking = (async function* () {
      yield '\n';
      // Nobody may be left to hear how it ends.
      await new Promise<void>((resolve) => onTestFinished(() => resolve()));
    })();
    const { line } = await serveResults([message]);
    const ran = await cli(`chat ${line} --progress never`, {
      isTTY: true,
      stdin: thinking,
      signal: stop.signal,
      // The second prompt follows the empty line.
      onWrite: () => ++prompts === 2 && stop.abort(),
    });
    expect([ran.stdout, ran.stderr]).toEqual(['', '> > ']);
  });

  it('ends when it is interrupted', async () => {
    const stop = abortedAfterTest();
    const { line } = await serveResults([refusal, message]);
    const { stdout, code } = await cli(`chat ${line}`, {
      stdin: 'one\ntwo\n',
      signal: stop.signal,
      onWrite: (stream, written) => stream === 'stdout' && written.includes('ok') && stop.abort(),
    });
    expect([code, stdout.match(/^Message ID/gm)?.length]).toEqual([130, 1]);
  });
});

describe('auth login', () => {
  /** A server of tokens that answers so, and an agent that names it. */
  async function serveTokens(answer: (response: import('node:http').ServerResponse) => void) {
    const server = await listen(createServer((_, response) => answer(response)));
    const card = oauth({ clientCredentials: { tokenUrl: `${server}/token`, scopes: { a: '' } } });
    const { url } = await serveSecured(card);
    return {
      url,
      line: `auth login -a ${url} --client-id x --client-secret hush --authorization-server ${server}/token`,
    };
  }
  const granted = (more: object) => (response: import('node:http').ServerResponse) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ access_token: 's3cret', token_type: 'Bearer', ...more }));
  };

  it('shows where the token is kept, and until when', async () => {
    const { url, line } = await serveTokens(granted({}));
    const home = temporaryFolder();
    const file = join(home, '.config/a2a-cli/tokens.json');
    expect((await cli(line, { home })).stdout).toBe(
      `Agent: Secured\nOrigin: ${url}\nExpires: unknown\nKept In: ${file}\n`,
    );
    expect((await cli(`${line} -o json`, { home })).json).toEqual({
      agent: 'Secured',
      origin: url,
      expiresAt: null,
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ [url]: { accessToken: 's3cret' } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const expiring = await serveTokens(granted({ expires_in: 60 }));
    const { json } = await cli(`${expiring.line} -o json`, { home });
    expect(Date.parse(json.expiresAt)).toBeGreaterThan(Date.now());
    expect(JSON.parse(readFileSync(file, 'utf8'))[expiring.url]).toEqual({
      accessToken: 's3cret',
      expiresAt: json.expiresAt,
    });
  });

  it.each<[string, (response: import('node:http').ServerResponse) => void, string, number]>([
    [
      'refuses',
      (response) =>
        response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'),
      'A2ACLI_ERR_AUTH_FAILED',
      4,
    ],
    [
      'answers with no token',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
      'A2ACLI_ERR_UNREACHABLE',
      3,
    ],
    ['breaks off', (response) => response.destroy(), 'A2ACLI_ERR_UNREACHABLE', 3],
  ])('says that the server %s', async (_, answer, code, exitCode) => {
    const { line } = await serveTokens(answer);
    const ran = await cli(`${line} -o json`);
    expect([ran.code, ran.json.error.code]).toEqual([exitCode, code]);
    expect(ran.stdout + ran.stderr).not.toContain('hush');
  });

  it('needs a secret where a program asks for itself', async () => {
    const { line } = await serveTokens(granted({}));
    const { stderr } = await cli(line.replace('--client-secret hush', ''));
    expect(stderr).toMatch(
      /Code: A2ACLI_ERR_USAGE\nHint: Give --client-secret, best as A2ACLI_CLIENT_SECRET\n$/,
    );
  });

  it('ends when it is interrupted, or in time', async () => {
    const stop = abortedAfterTest();
    const { line } = await serveTokens(() => stop.abort());
    expect((await cli(line, { signal: stop.signal })).code).toBe(130);
    const silent = await serveTokens(() => {});
    expect((await cli(`${silent.line} --timeout 50ms -o json`)).json.error).toMatchObject({
      code: 'A2ACLI_ERR_TIMEOUT',
    });
  });
});

describe('Ctrl-C while an agent is silent ends', () => {
  it.each([
    'send hi',
    'send hi --async',
    'task get t',
    'task get t --wait',
    'task subscribe t',
    'task cancel t',
    'task list',
    'task download t',
    'task push-config create t --url http://a.example',
    'task push-config get t h',
    'task push-config list t',
    'task push-config delete t h',
  ])('%s', async (command) => {
    const stop = abortedAfterTest();
    const url = await listen(createServer(() => stop.abort()));
    const ran = await cli(`${command} -e ${url} --transport jsonrpc`, { signal: stop.signal });
    expect([ran.code, ran.stdout]).toEqual([130, '']);
  });
});

describe('--debug', () => {
  it('shows where an error came from, without secrets', async () => {
    const { line } = await serveResults([{ error: { code: -32603, message: 'has s3cret' } }]);
    const { stderr } = await cli(`task get t ${line} --bearer s3cret --debug`);
    expect(stderr).toContain('Error: has [redacted]\n');
    expect(stderr).toMatch(/\ndebug: A2AError: has \[redacted\]\n +at /);
    expect((await cli(`task get t ${line}`)).stderr).not.toContain('debug:');
    const json = await cli(`task get t ${line} --api-key s3cret -o json`);
    expect(json.stdout).not.toContain('s3cret');
    const quoted = requires('b', { httpAuthSecurityScheme: { scheme: 'Basic' } });
    const { url } = await serveSecured({ ...quoted, name: 'Has s3cret' });
    expect((await cli(`send -a ${url} --svc-param x:s3cret hi -o json`)).json.error.message).toBe(
      'Has [redacted] requires b',
    );
  });
});

it('a folder of cards that cannot be made is no reason to fail', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, '.cache'));
  writeFileSync(join(home, '.cache/a2a-cli'), '');
  expect((await cli(`card get ${await serveMany()}`, { home })).code).toBe(0);
});
