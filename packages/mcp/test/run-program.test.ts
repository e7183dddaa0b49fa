import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { createAgentServer, reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { listen } from '../../../test/kit/listen.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { usage } from '../src/flags.ts';
import { runProgram } from '../src/program.ts';

/** Runs the program in this process, and ends it with the test. */
async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const written = { stdout: '', stderr: '' };
  stdout.on('data', (chunk) => {
    written.stdout += chunk;
  });
  stderr.on('data', (chunk) => {
    written.stderr += chunk;
  });
  const running = await runProgram({ argv, env, stdin, stdout, stderr });
  if (typeof running === 'object') onTestFinished(() => running.close());
  await new Promise(setImmediate);
  return { running, written, stdin };
}

/** An agent behind HTTP, and the headers of its requests. */
async function serveAgent() {
  const seen: (string | undefined)[] = [];
  const server = closedAfterTest(
    createAgentServer({
      card: { name: 'Far agent', description: 'Answers' },
      agent: () => reply('Hello'),
      store: memoryStore(),
      logger: () => {},
    }),
  );
  const handle = nodeHandler(server);
  const url = await listen((request, response) => {
    seen.push(request.headers['x-key'] as string | undefined);
    handle(request, response);
  });
  return { url, seen };
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

describe('the program', () => {
  it('prints its help and its version, and no more', async () => {
    const { version } = JSON.parse(readFileSync('packages/mcp/package.json', 'utf8'));
    expect(await run(['--help'])).toMatchObject({ running: 0, written: { stdout: usage, stderr: '' } });
    expect(await run(['-h'])).toMatchObject({ written: { stdout: usage } });
    expect(await run(['--version'])).toMatchObject({
      running: 0,
      written: { stdout: `${version}\n`, stderr: '' },
    });
    expect(usage).toMatch(/^Usage: baton-mcp <url of an A2A agent> \[options\]\n/);
    for (const flag of 'header header-env http host allow-host allow model-approves wait help version'.split(
      ' ',
    ))
      expect(usage).toContain(`--${flag}`);
  });

  it('says which flag is wrong, and where they stand', async () => {
    expect(await run([])).toMatchObject({
      running: 2,
      written: { stdout: '', stderr: 'baton-mcp: The URL of the agent is missing\nSee baton-mcp --help\n' },
    });
  });

  it('says that the agent cannot be reached', async () => {
    const { running, written } = await run([`http://127.0.0.1:${await freePort()}`]);
    expect(running).toBe(1);
    expect(written.stderr).toMatch(/^baton-mcp: .+\n$/);
    expect(written.stdout).toBe('');
  });

  it('says that its port is taken', async () => {
    const { url } = await serveAgent();
    const { running, written } = await run([url, '--http', new URL(url).port]);
    expect(running).toBe(1);
    expect(written.stderr).toMatch(/^baton-mcp: .*EADDRINUSE.*\nThe MCP server could not start\n$/);
  });

  it('serves HTTP where it is told to, with the headers for the agent', async () => {
    const { url, seen } = await serveAgent();
    const { written, running } = await run([url, '--http', '0', '--header-env', 'X-Key=KEY'], {
      KEY: 'secret',
    });
    const [, at] = /^Serving Far agent at (http:\/\/127\.0\.0\.1:\d+\/mcp)\n$/.exec(written.stderr)!;
    const response = await fetch(at!, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(initialize),
    });
    expect(await response.text()).toContain('"name":"Far agent"');
    expect(new Set(seen)).toEqual(new Set(['secret']));
    await (running as { close(): Promise<void> }).close();
    await expect(fetch(at!)).rejects.toThrow('fetch failed');
  });

  it('serves stdio otherwise, and tells people of what is no message', async () => {
    const { url } = await serveAgent();
    const { written, stdin } = await run([url]);
    expect(written.stderr).toBe('');
    stdin.write(`${JSON.stringify(initialize)}\n`);
    await expect.poll(() => written.stdout).toContain('"name":"Far agent"');
    stdin.write('{"jsonrpc":"2.0","id":{}}\n');
    await expect.poll(() => written.stderr).toMatch(/^baton-mcp: /);
    for (const line of written.stdout.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc');
  });
});
