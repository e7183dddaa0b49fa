import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { pnpm } from '../../scripts/packed/pack.ts';
import { copyRepository } from '../kit/copy-repository.ts';
import { type Command, node, run } from '../kit/processes.ts';
import { root } from '../repository/source-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-start-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What `pnpm start` runs, without pnpm around it. */
const start = (env: Record<string, string>, cwd = root): Command =>
  run(node, ['scripts/start.mjs'], { env, cwd });

/** What only tests, benchmarks, checks and documents use, by the name of its package. */
const isOnlyForTests =
  /^(@biomejs|@cloudflare|@playwright|@stryker-mutator|@turbo|@typescript|better-sqlite3|esbuild|knip|miniflare|playwright|tsup|turbo|typedoc|typescript|vitepress|vitest|workerd)\b/;
/** Node.js and its headers are most of it. */
const MEGABYTES = 300;

async function megabytesIn(folder: string): Promise<number> {
  const { stdout } = await promisify(execFile)('du', ['-sk', folder]);
  return Number.parseInt(stdout, 10) / 1024;
}

const urlIn = (output: string) => output.match(/^ *Agents +(http:\S+)\/agents\//m)![1]!;
const json = async (url: string) => (await fetch(url, { headers: { 'a2a-version': '1.0' } })).json();

describe('the start command', { timeout: 300_000 }, () => {
  it('shows the card, a line to copy and a whole conversation in a fresh clone, and stops cleanly on Ctrl-C', async () => {
    const clone = join(folder, 'clone');
    await copyRepository(clone);
    await using gallery = start({ PORT: '0', BATON_DATA: join(folder, 'first') }, clone);
    const output = await gallery.until(/Ctrl-C/);
    // What the first start of a user waits for: more than this, and it belongs into `devDependencies`.
    const installed = readdirSync(join(clone, 'node_modules/.pnpm'));
    expect(installed.filter((name) => isOnlyForTests.test(name))).toEqual([]);
    expect(await megabytesIn(join(clone, 'node_modules/.pnpm'))).toBeLessThan(MEGABYTES);
    const url = urlIn(output);

    const steps = [/SUBMITTED/, /WORKING/, /result.*"approved".*"Processed 100 USD"/, /COMPLETED/];
    expect(steps.map((step) => output.search(step))).toEqual(
      steps.map((step) => output.search(step)).toSorted((a, b) => a - b),
    );
    for (const step of steps) expect(output).toMatch(step);

    const card = output.match(/\S+agent-card\.json/)![0];
    expect(await json(card)).toMatchObject({
      name: 'Expense agent',
      supportedInterfaces: [
        { url: `${url}/agents/expense`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${url}/agents/expense`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        {
          url: `${url.replace('http', 'ws')}/agents/expense/ws`,
          protocolBinding: 'https://batonjs.dev/bindings/websocket/v1',
          protocolVersion: '1.0',
        },
        { url: `${url}/agents/expense`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { url: `${url}/agents/expense`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
    });
    expect(await json(`${url}/agents/expense/.well-known/agent-card.json`)).toEqual(await json(card));

    const line = output.match(/curl [\s\S]*?\}\}'/)![0];
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject({
      task: {
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ name: 'result', parts: [{ data: { message: 'Processed 100 USD' } }] }],
      },
    });

    // `pnpm baton` in the same clone, which has no packages of the command line yet.
    const inClone = (...args: string[]) => promisify(execFile)(node, args, { cwd: clone });
    expect((await inClone('scripts/start/command-line.mjs')).stdout).toBe('');
    const { scripts } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    const [before, program] = scripts.baton.split(' && node ');
    expect(before).toBe('node scripts/start/command-line.mjs');
    const listed = await inClone(...program.split(' '), 'task', 'list', '-a', `${url}/agents/expense`);
    expect(listed.stdout).toMatch(/^Task ID: [\s\S]*\nTasks: 2\n$/);

    gallery.signal('SIGINT');
    expect(await gallery.ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  it('keeps finished tasks through a SIGKILL of the whole group', async () => {
    const env = { PORT: '0', BATON_DATA: join(folder, 'second') };
    let tasks: unknown;
    {
      await using killed = run(pnpm, ['start'], { env });
      const url = urlIn(await killed.until(/Ctrl-C/));
      ({ tasks } = await json(`${url}/agents/expense/tasks?includeArtifacts=true`));
      expect(tasks).toMatchObject([{ status: { state: 'TASK_STATE_COMPLETED' } }]);
      killed.signal('SIGKILL');
      expect(await killed.ended).toBe('SIGKILL');
      await expect(fetch(url)).rejects.toThrow();
    }
    await using again = start(env);
    const output = await again.until(/Ctrl-C/);
    const url = urlIn(output);
    // Nothing is new: what the package manager has to say would only stand in the way.
    expect(output.slice(0, output.indexOf('  Inspector'))).toMatch(
      /^Checking the installed packages …\n(Building the \w+ …\n)*\n$/,
    );
    const { tasks: kept } = await json(`${url}/agents/expense/tasks?includeArtifacts=true`);
    expect(kept).toHaveLength(2);
    expect(kept).toEqual(expect.arrayContaining(tasks as unknown[]));
  });
});
