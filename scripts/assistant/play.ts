import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { writeEmptyProject } from './project.ts';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'packages/cli/src/main.ts');
const sources = '--conditions=@batonjs/source';

/** One thing that the assistant did, and why. */
export interface Step {
  readonly why: string;
  /** A tool of `baton dev --mcp`, with its arguments. `$task` is the task that the last answer named. */
  readonly call?: readonly [tool: string, args: Readonly<Record<string, unknown>>];
  /** A file that it wrote. */
  readonly write?: readonly [file: string, text: string];
  /** A file of tests that it ran. */
  readonly test?: string;
  /** Of a page, only the lines around these words stand in the record. */
  readonly reads?: RegExp;
  /** What the answer says. */
  readonly expects?: RegExp;
}

/** A step and what came of it. */
export interface Played {
  readonly step: Step;
  readonly answer: string;
}

/** Takes the steps one after the other in an empty project, with the real program and the real client of MCP. */
export async function play(steps: readonly Step[]): Promise<readonly Played[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-assistant-')));
  writeEmptyProject(folder);
  // The command needs a file to serve.
  writeFileSync(join(folder, 'agent.ts'), '');
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [sources, program, 'dev', 'agent.ts', '--port', '0', '--mcp'],
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE, HOME: folder },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'assistant', version: '1.0.0' });
  const plain = normalizer(folder);
  const played: Played[] = [];
  let task = '';
  try {
    await client.connect(transport);
    for (const step of steps) {
      const answer = await take(step);
      task = /^Task (\S+),/m.exec(answer)?.[1] ?? task;
      played.push({ step, answer: plain(answer) });
    }
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
  return played;

  async function take({ call, write, test }: Step): Promise<string> {
    if (write) {
      writeFileSync(join(folder, write[0]), write[1]);
      return '';
    }
    if (test) return runTest(join(folder, test));
    const [name, args] = call ?? ['', {}];
    const given = JSON.parse(JSON.stringify(args).replaceAll('$task', task));
    const { content, isError } = await client.callTool({ name, arguments: given });
    const texts = (content as readonly { type: string; text?: string }[]).map(({ text = '' }) => text);
    return `${isError ? 'Error: ' : ''}${texts.join('\n')}`;
  }
}

/** The names of the tests and whether they passed. */
function runTest(file: string): Promise<string> {
  const args = [sources, '--test', '--test-reporter=tap', file];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (_error, stdout) =>
      resolve((stdout.match(/^\s*(?:not )?ok .*$|^# (?:pass|fail) .*$|^\s+error: .*$/gm) ?? []).join('\n')),
    );
  });
}

/** Takes out of a text what is another in each run: ids, times, ports, the folder, the places in stacks. */
function normalizer(folder: string): (text: string) => string {
  const ids = new Map<string, string>();
  return (text) =>
    text
      .replaceAll(folder, '.')
      .replaceAll(`${root}/`, '')
      .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\b[\da-f]{32}\b/g, (id) => {
        if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
        return ids.get(id)!;
      })
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
      .replaceAll(/(?:\\n|\n) +at (?!file:\/\/\.\/)[^\n"]*?(?=\\n|\n|"|$)/g, '')
      .replaceAll(/ # (?:SKIP|TODO).*$/gm, '');
}
