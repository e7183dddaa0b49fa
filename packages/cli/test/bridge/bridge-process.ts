import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { node } from '../../../../test/kit/processes.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';

const program = await builtProgram(new URL('../../src/main.ts', import.meta.url));

/** `baton mcp` as a process of its own, until the test ends. */
export function startBridge(
  args: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
) {
  const { PATH } = process.env;
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', program, 'mcp', ...args], {
    env: { PATH, HOME: home, ...env },
    stdio: 'pipe',
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  const lines = createInterface({ input: child.stdout });
  const waiting = new Map<unknown, (message: unknown) => void>();
  const notifications: unknown[] = [];
  lines.on('line', (line) => {
    if (!line.startsWith('{')) return;
    const message = JSON.parse(line) as { id?: unknown };
    if (message.id === undefined) notifications.push(message);
    else waiting.get(message.id)?.(message);
  });
  let id = 0;
  return {
    child,
    written,
    ended,
    /** Messages without an id that came over standard output. */
    notifications,
    /** The URL that it serves. */
    async url(): Promise<URL> {
      const [line] = (await Promise.race([once(lines, 'line'), ended.then(() => [''])])) as [string];
      const [, url = ''] = /^URL: (\S+)$/.exec(line) ?? [];
      if (!url) throw new Error(`The bridge did not start: ${written.stderr}`);
      return new URL(url);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    /** Sends a request of MCP 2026-07-28 over standard input. */
    // biome-ignore lint/suspicious/noExplicitAny: tests look at members of many shapes.
    request(method: string, params: Readonly<Record<string, unknown>> = {}): Promise<any> {
      id += 1;
      const current = id;
      const answer = new Promise((resolve) => waiting.set(current, resolve));
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {
          elicitation: { form: {} },
          extensions: { 'io.modelcontextprotocol/tasks': {} },
        },
      };
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`);
      const dead = ended.then((how) => {
        throw new Error(`The bridge ended with ${how}: ${written.stderr}`);
      });
      return Promise.race([answer, dead]);
    },
    notify(method: string, params: object) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
    },
  };
}
