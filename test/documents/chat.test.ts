import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { type Command, freePort, node, run } from '../kit/processes.ts';
import { readText, root } from '../repository/source-files.ts';
import { chromiumForTests, openChromium } from '../support/chromium.ts';

const execute = promisify(execFile);
const executablePath = await chromiumForTests();
const folder = mkdtempSync(join(tmpdir(), 'baton-chat-page-'));
const project = join(folder, 'my-chat');
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** What `npm install` does, with the packages of this repository. */
function install(): void {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const places = ['packages/create-baton', '.'].map((place) => join(root, place, 'node_modules', name));
    const path = join(project, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(places.find(existsSync)!, path);
  }
}

describe.skipIf(!executablePath)('the page "A chat in ten minutes"', { timeout: 300_000 }, () => {
  it('does every step: the chat outlives its server', async () => {
    const steps = Array.from(
      readText('docs/start/chat.md').matchAll(/^```sh\n([\s\S]*?)^```$/gm),
      ([, code]) => code!.trim(),
    );
    expect(steps).toEqual([
      'npm create baton@latest my-chat -- --template chat --store sqlite\ncd my-chat\nnpm install',
      'npm run page\nnpm start',
      'kill -9 $(lsof -ti tcp:4000 -s tcp:listen)',
      'npm start',
    ]);
    const create = join(root, 'packages/create-baton/src/main.ts');
    const given = ['my-chat', '--template', 'chat', '--store', 'sqlite'];
    await execute(node, [create, ...given], { cwd: folder });
    install();
    const shown = readFileSync(join(project, 'page/main.tsx'), 'utf8');
    expect(codeBlocks('docs/start/chat.md', 'tsx')).toEqual([shown]);
    const sources = { ...process.env, NODE_OPTIONS: '--conditions=@batonjs/source' };
    // The packages of this repository are not built: the page is made of their sources.
    const config = `import own from './vite.config.ts'; export default { ...own, resolve: { conditions: ['@batonjs/source', 'module', 'browser', 'development|production']} };`;
    const tested = join(project, 'vite.test.config.ts');
    writeFileSync(tested, config);
    const vite = join(project, 'node_modules/vite/bin/vite.js');
    await execute(node, [vite, 'build', '--logLevel', 'error', '--config', tested], {
      cwd: project,
      env: sources,
    });

    const PORT = String(await freePort());
    let server: Command | undefined;
    closing.push(() => server?.[Symbol.asyncDispose]());
    const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    expect(scripts.page).toBe('vite build');
    const [program, ...argumentsOfStart] = scripts.start.split(' ');
    expect(program).toBe('node');
    const start = async () => {
      const env = { PORT, NODE_OPTIONS: '--conditions=@batonjs/source' };
      server = run(node, argumentsOfStart, { cwd: project, env });
      await server.until(/its page at http/);
    };
    await start();
    const browser = await openChromium(executablePath!);
    closing.push(() => browser.close());
    const page = await browser.context.newPage();
    await page.goto(`http://127.0.0.1:${PORT}/chat`);
    const send = async (text: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
    };
    await page.getByRole('heading', { name: 'My Chat' }).first().waitFor();
    await send('Hello');
    await page.getByText('You said: Hello').first().waitFor();
    await page.waitForFunction(() => location.hash.length > 1);
    await page.reload();
    await page.locator('article').getByText('You said: Hello').waitFor();
    server!.signal('SIGKILL');
    expect(await server!.ended).toBe('SIGKILL');
    await page.getByText('Connection lost').waitFor();
    await send('Are you there?');
    await page.locator('[data-state=sending]').waitFor();
    await start();
    await page.locator('article').getByText('You said: Are you there?').waitFor();
    expect(await page.locator('article').count()).toBe(2);
  });
});
