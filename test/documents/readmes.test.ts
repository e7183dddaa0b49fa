import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { type Command, freePort, node, run } from '../kit/processes.ts';
import { root } from '../repository/source-files.ts';

const execute = promisify(execFile);

/** Inside of the repository, so that imports are found; of this process, so that two runs do not meet. */
const folder = join(root, '.reports', `readmes-${process.pid}`);
beforeAll(() => mkdirSync(folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true }));

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
