import { PassThrough } from 'node:stream';
import { reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { help, runProgram, type Serving } from '../src/program.ts';

/** Runs the program in this process until the test ends, and collects what it writes. */
async function run(argv: readonly string[]) {
  const written = { stdout: '', stderr: '' };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdout.on('data', (chunk) => {
    written.stdout += chunk;
  });
  stderr.on('data', (chunk) => {
    written.stderr += chunk;
  });
  const running = await runProgram({ argv, stdout, stderr });
  if (typeof running === 'object') onTestFinished(() => running.close());
  await new Promise(setImmediate);
  return { running, written };
}

/** The session of an inspector whose address was printed. */
async function sessionOf(stdout: string) {
  const [, address, token] =
    /^The inspector is at (http:\/\/127\.0\.0\.1:\d+\/)#token=([\w-]+)\nCtrl-C stops it\.\n$/.exec(stdout)!;
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${address}api/session`, { headers });
  return { address: address!, headers, session: await response.json() };
}

describe('the program', () => {
  it('explains itself', async () => {
    expect(await run(['--help'])).toEqual({ running: 0, written: { stdout: help, stderr: '' } });
    expect(help).toMatch(/^Usage: inspector \[agent url …\] \[options\]\n/);
    for (const option of ['allow', 'header', 'trust', 'port', 'help']) expect(help).toContain(`--${option}`);
  });

  it.each([
    [['expense'], 'An agent url begins with http:// or https://, unlike "expense"'],
    [['xhttp://a'], 'An agent url begins with http:// or https://, unlike "xhttp://a"'],
    [['--allow', 'everything'], '--allow must be send, cancel or all, not "everything"'],
    [['--header', 'secret'], '--header must be "Name: value", not "secret"'],
    [['--header', ': secret'], '--header must be "Name: value", not ": secret"'],
    [['--port', 'x'], '--port must be a whole number from 0 to 65535, not "x"'],
    [['--port', '65536'], '--port must be a whole number from 0 to 65535, not "65536"'],
    [['--port', '1e3'], '--port must be a whole number from 0 to 65535, not "1e3"'],
    [['--port', '1x'], '--port must be a whole number from 0 to 65535, not "1x"'],
    [['--port', '-1'], "Option '--port' argument is ambiguous"],
    [['--wrong'], "Unknown option '--wrong'"],
  ])('refuses %j with a sentence', async (args, why) => {
    const { running, written } = await run(args);
    expect([running, written.stdout]).toEqual([2, '']);
    expect(written.stderr.startsWith(why)).toBe(true);
    expect(written.stderr).not.toContain('    at ');
  });

  it('serves at the port that it is given, to this machine', async () => {
    const port = await freePort();
    const { written } = await run(['--port', String(port), '--header', 'a:b', 'https://a.example']);
    expect(written.stdout).toContain(`http://127.0.0.1:${port}/`);
    // One of another program, or none: the number is right.
    expect((await run(['--port', '65535'])).written.stderr).not.toContain('--port must be');
    const { running, written: refused } = await run(['--port', String(port)]);
    expect([running, refused.stderr]).toEqual([2, expect.stringContaining('EADDRINUSE')]);
  });

  it('shows the agents, which get its headers', async () => {
    const seen: (string | undefined)[] = [];
    const handle = nodeHandler(serve(() => reply('Hello')));
    const url = await listen((request, response) => {
      seen.push(request.headers['x-key'] as string | undefined);
      handle(request, response);
    });
    const { written, running } = await run([
      url,
      '--header',
      'X-Key : a:b ',
      '--allow',
      'send',
      '--trust',
      'https://a.example/keys',
    ]);
    const { address, session } = await sessionOf(written.stdout);
    expect(session).toMatchObject({
      agents: [{ url, name: 'Test' }],
      may: ['send', 'fetch-file', 'add-agent'],
    });
    expect([new Set(seen), written.stderr]).toEqual([new Set(['a:b']), '']);
    (running as Serving).close();
    await expect(fetch(address)).rejects.toThrow('fetch failed');
  });

  it('asks the key sets that are trusted for the keys of cards', async () => {
    const url = await listen((_, response) => {
      response.setHeader('content-type', 'application/json');
      const protectedHeader = Buffer.from('{"alg":"ES256","kid":"k"}').toString('base64url');
      const card = {
        name: 'Signed',
        description: 'Has a signature',
        version: '1',
        capabilities: {},
        defaultInputModes: [],
        defaultOutputModes: [],
        skills: [],
        supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        signatures: [{ protected: protectedHeader, signature: 'x' }],
      };
      response.end(JSON.stringify(card));
    });
    const { written } = await run([url, '--trust', 'https://127.0.0.1:1/keys']);
    const { address, headers, session } = await sessionOf(written.stdout);
    const response = await fetch(`${address}api/agents/${session.agents[0].id}/card`, { headers });
    expect((await response.json()).signature).toEqual({
      state: 'unverifiable',
      why: 'The trusted keys cannot be fetched',
    });
  });

  it.each([
    [[], ['fetch-file', 'add-agent']],
    [
      ['--allow', 'cancel'],
      ['cancel', 'fetch-file', 'add-agent'],
    ],
    [
      ['--allow', 'all'],
      ['send', 'cancel', 'fetch-file', 'add-agent'],
    ],
    [
      ['--allow', 'send', '--allow', 'cancel'],
      ['send', 'cancel', 'fetch-file', 'add-agent'],
    ],
  ])('allows with %j what it is told to', async (args, may) => {
    const { written } = await run([...args]);
    expect((await sessionOf(written.stdout)).session.may).toEqual(may);
  });
});
