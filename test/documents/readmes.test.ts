import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { type Command, freePort, node, run } from '../kit/processes.ts';
import { compilerEnv } from '../repository/compiler-env.ts';
import { documents, root, workspaces } from '../repository/source-files.ts';
import { docstringExamples } from './docstring-examples.ts';

const execute = promisify(execFile);

/** Inside of the repository, so that imports are found; of this process, so that two runs do not meet. */
const folder = join(root, '.reports', `readmes-${process.pid}`);
beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true }));

/** The text of the files below `test/<document>/`: what a document shows of them is checked where it stands. */
function wholeFiles(document: string): string[] {
  const shown = join(root, 'test', basename(document, '.md'));
  const names = globSync('**/*.ts', { cwd: shown, exclude: (name) => name.includes('node_modules') });
  return names.map((name) => readFileSync(join(shown, name), 'utf8'));
}

describe('the code of every README, page and docstring', () => {
  it('has the types it needs', { timeout: 300_000 }, async () => {
    const onPages = documents().flatMap((document) => {
      const elsewhere = wholeFiles(document);
      const shown = codeBlocks(document).filter((code) => !elsewhere.includes(code));
      const withJsx = codeBlocks(document, 'tsx').map((code) => `/** @jsxImportSource react */\n${code}`);
      return [
        ...shown.map((code) => ({ path: document, code, type: 'ts' })),
        ...withJsx.map((code) => ({ path: document, code, type: 'tsx' })),
      ];
    });
    const inDocstrings = workspaces()
      .flatMap(docstringExamples)
      .map((example) => ({ ...example, type: 'ts' }));
    expect(onPages.length).toBeGreaterThan(2);
    expect(inDocstrings.length).toBeGreaterThan(1);
    for (const [n, { path, code, type }] of [...onPages, ...inDocstrings].entries())
      writeFileSync(join(folder, `${path.replaceAll(/\W+/g, '-')}-${n + 1}.${type}`), code);
    const tsconfig = { extends: '../../tsconfig.base.json', include: ['.'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    const tsc = join(root, 'node_modules/.bin/tsc');
    const options = { env: compilerEnv };
    const failure = await execute(tsc, ['-p', folder, '--singleThreaded'], options).then(
      () => '',
      ({ stdout }) => stdout,
    );
    expect(failure).toBe('');
  });
});

describe('the page about tests', () => {
  it('has tests that pass', async () => {
    const [tests = ''] = codeBlocks('docs/agents/testing.md');
    const file = join(folder, 'page.test.ts');
    writeFileSync(file, tests);
    const { stdout } = await execute(node, [
      '--conditions=@batonjs/source',
      '--test',
      '--test-reporter=tap',
      file,
    ]);
    expect(stdout).toMatch(/^# pass 3$/m);
  });

  it('has a webhook that is told', async () => {
    const code = codeBlocks('docs/agents/testing.md').find((block) => block.includes('webhookReceiver'));
    writeFileSync(join(folder, 'webhook.ts'), `${code}console.log('Told');`);
    const { stdout } = await execute(node, ['--conditions=@batonjs/source', join(folder, 'webhook.ts')]);
    expect(stdout).toBe('Told\n');
  });
});

describe('the README', () => {
  const sources = '--conditions=@batonjs/source';
  const [hello = '', ask = ''] = codeBlocks('README.md');
  let server: Command;
  let port: string;

  beforeAll(async () => {
    port = String(await freePort());
    writeFileSync(join(folder, 'hello.ts'), `${hello.replaceAll('4000', port)}console.log('Listening');`);
    writeFileSync(join(folder, 'ask.ts'), ask.replaceAll('4000', port));
    server = run(node, [sources, join(folder, 'hello.ts')]);
    await server.until(/Listening/);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('begins with the two commands', () => {
    const commands = Array.from(readme().matchAll(/^npx -y pnpm@12 (\w+)/gm), ([, name]) => name);
    expect(commands.slice(0, 2)).toEqual(['start', 'test']);
  });

  it('shows an agent of 12 lines and a client of 4 that understand each other', async () => {
    expect(hello.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
    expect(ask.trimEnd().split('\n').length).toBeLessThanOrEqual(4);
    await using client = run(node, [sources, join(folder, 'ask.ts')]);
    expect(await client.ended, client.output).toBe(0);
    expect(client.output).toBe('TASK_STATE_COMPLETED Hello, Ada!\n');
  });

  it('shows a curl line that works', async () => {
    const line = readme()
      .match(/^curl (?:.*\\\n)*.*$/m)![0]
      .replaceAll('4000', port);
    const { stdout } = await execute('sh', ['-c', line]);
    expect(JSON.parse(stdout)).toMatchObject({
      task: { artifacts: [{ name: 'greeting', parts: [{ text: 'Hello, Ada!' }] }] },
    });
  });
});

const readme = (): string => readFileSync(join(root, 'README.md'), 'utf8');
